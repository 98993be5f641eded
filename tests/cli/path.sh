#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# path.sh -- the printed path exists, or none is printed.
. "$(dirname "$0")/transcript.sh"

if [ -f "$build/libautocast.so" ]; then
	path=$("$autocast" policy where --library)
	equal 'in the build folder' "$path" "$(readlink -f "$build/libautocast.so")"
else
	skip 'in the build folder' 'libautocast.so is not built'
fi

# An installation that was moved, found next to the program it belongs to.
mkdir -p moved/bin moved/lib/libautocast alone
cp "$autocast" moved/bin/
cp "$autocast" alone/
: >moved/lib/libautocast/libautocast.so
equal 'under a moved prefix' "$(moved/bin/autocast policy where --library)" \
    "$PWD/moved/lib/libautocast/libautocast.so"
ln -s "$PWD/moved/bin/autocast" link
equal 'through a symbolic link' "$(./link policy where --library)" \
    "$PWD/moved/lib/libautocast/libautocast.so"
said=$(alone/autocast policy where --library 2>&1)
status=$?
case $status:$said in
0:*) # a previous installation under the configured prefix
	[ -f "$said" ]
	ok 'never a path that does not exist' $? ;;
*)
	equal 'never a path that does not exist' "$status $said" \
	    '125 autocast: libautocast.so is not where it was installed; install autocast again' ;;
esac
plan
