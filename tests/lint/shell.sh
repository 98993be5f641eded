#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shell.sh -- every script parses, and pleases shellcheck where it is there.
. "$(dirname "$0")/tap.sh"

cd "$root" || exit 99
for script in bootstrap quickstart .ci/run bench/accuracy bench/overhead bench/gpu-day/run $(files packaging/after-install packaging/build-deb packaging/same-tarball packaging/task-prolog packaging/try-bare packaging/try-deb 'bench/*.sh' 'tests/*.sh' 'tests/*/*.sh'); do
	[ -f "$script" ] || continue
	case $(head -n 1 "$script") in "#!/bin/sh") shell="sh" ;; *) shell="bash" ;; esac
	check "$script parses" "$($shell -n "$script" 2>&1)"
	if command -v shellcheck >/dev/null 2>&1; then
		check "$script pleases shellcheck" \
		    "$(shellcheck -S warning -s "$shell" -e SC1090,SC1091,SC2034,SC2154,SC2238 "$script" 2>&1)"
	fi
done

# A build tree that was copied must not test the one it was copied from.
copy=$(mktemp -d "${TMPDIR:-/tmp}/autocast-test.XXXXXX") || exit 99
trap 'rm -rf "$copy"' EXIT
touch "$copy/config.status"
tried=$(cd "$copy" && top_builddir=$build sh -c '. "$0"; echo went on' \
    "$root/tests/lint/tap.sh")
check 'a copied build tree is refused' \
    "$(case $tried in *'went on'* | '') echo "said: $tried" ;; esac)"
rm "$copy/config.status"
tried=$(cd "$copy" && top_builddir=$build sh -c '. "$0"; echo went on' \
    "$root/tests/lint/tap.sh")
check 'another folder that is no build tree is not' \
    "$([ "$tried" = 'went on' ] || echo "said: $tried")"
plan
