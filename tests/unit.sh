#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# unit.sh PROGRAM ARGS... -- run a cmocka program for the TAP driver: cmocka
# 1.1 writes a skipped case as "not ok N # SKIP", which the driver would fail.
exec 4>&1
status=$( { { "$@" 3>&- 4>&-; echo $? >&3; } |
	sed 's/^not ok \([0-9]* # SKIP\)/ok \1/' >&4; } 3>&1 )
exit "${status:-99}"
