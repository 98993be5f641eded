#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# play.sh POLICY RHYTHM-ARGUMENT...: what rhythm prints under default, guarded,
# strict or tf32; REPORT=1 adds autocast's report.
. "$(dirname "$0")/trust.sh"
play "$@"
[ -z "${REPORT:-}" ] || "$build/autocast" report
