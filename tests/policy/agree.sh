#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# agree.sh -- the policy room against a second implementation in Python.
. "$(dirname "$0")/../lint/tap.sh"

command -v python3 >/dev/null 2>&1 || skip_all 'no python3'
PYTHONDONTWRITEBYTECODE=1 exec python3 "$root/tests/policy/agree.py" \
    "$build/tests/policy/agree_driver" "$root/policy/profiles"
