#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# dist.sh -- everything that git tracks is in the tarball.
. "$(dirname "$0")/tap.sh"

cd "$root" || exit 99
git ls-files --error-unmatch configure.ac >/dev/null 2>&1 || skip_all 'not a git checkout'
[ -f "$build/Makefile" ] || skip_all 'not configured'
list=$(make -s -C "$build" dist-list 2>/dev/null | sort -u)
[ -n "$list" ] || skip_all 'make dist-list says nothing'

check 'everything tracked is in the tarball' "$(git ls-files |
    grep -vE '^\.' | while read -r file; do
	[ -f "$file" ] || continue
	echo "$list" | grep -qxF "$file" || echo "$file"
    done)"
plan
