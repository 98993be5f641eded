#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fetch_libcuda.sh FOLDER -- FOLDER/libcuda.so.1, of Debian's package libcuda1
# (NVIDIA's, in the section non-free), for tests/real/driver.sh. It comes from
# where this machine's packages come from, by lists of its own: nothing is
# installed, and apt's settings stay as they are. Needs no root.
set -eu
[ $# = 1 ] || { echo 'usage: fetch_libcuda.sh FOLDER' >&2; exit 2; }
[ ! -f "$1/libcuda.so.1" ] || exit 0

fail()
{
	echo "fetch_libcuda.sh: $*" >&2
	exit 1
}

for tool in apt-get dpkg-deb; do
	command -v $tool >/dev/null || fail "no $tool: libcuda1 is Debian's"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/parts" "$work/lists/partial" "$work/cache/archives/partial"

# The machine's sources, in both of their forms, of the section non-free only.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ -f "$list" ] || continue
	sed -nE 's/^(deb +(\[[^]]*\] +)?[^ ]+ +[^ ]+) .*\bmain\b.*/\1 non-free/p' \
		"$list" >>"$work/parts/non-free.list"
done
for list in /etc/apt/sources.list.d/*.sources; do
	[ -f "$list" ] || continue
	sed -E 's/^Components:.*\bmain\b.*/Components: non-free/' "$list" \
		>"$work/parts/${list##*/}"
done

apt()
{
	(cd "$work" && apt-get -q -o Dir::Etc::SourceList=/dev/null \
		-o Dir::Etc::SourceParts="$work/parts" \
		-o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" \
		-o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 "$@") \
		>"$work/out" 2>&1
}
apt update || true # a source without non-free is none of our business
apt download libcuda1 ||
	fail "libcuda1 cannot be had: $(grep '^E:' "$work/out" | head -n 1)"
dpkg-deb -x "$work"/libcuda1_*.deb "$work/root"
found=$(find "$work/root" -name libcuda.so.1 | head -n 1)
[ -n "$found" ] || fail 'there is no libcuda.so.1 in libcuda1'
mkdir -p "$1"
cp -L "$found" "$1/libcuda.so.new"
mv "$1/libcuda.so.new" "$1/libcuda.so.1"
