#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# main.sh -- verbs: known, unknown, missing; help comes from the table.
. "$(dirname "$0")/transcript.sh"

play 34
shown

for verb in '' run 'report --live'; do
	equal "help $verb" "$("$autocast" help $verb)" "$("$autocast" $verb --help)"
done
equal '--version names the program' \
    "$("$autocast" --version | sed 's/[0-9.]*$/N/')" 'autocast N'
"$autocast" --help >/dev/full 2>/dev/null
equal 'a full disk is a failure' $? 125
plan
