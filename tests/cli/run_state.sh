#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_state.sh -- where the user's directory cannot take the statistics, the
# closing lines come all the same, --report works, one line says what is not
# kept and why, and nothing is left behind.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
[ -x "$counting" ] || skip_all 'tests/cli/counting is not built'
cp "$counting" counting
pretend_driver
unset AUTOCAST_STATE XDG_STATE_HOME
export HOME=$place/home TMPDIR=$place/tmp
mkdir "$HOME" "$TMPDIR"
set_it='set AUTOCAST_STATE to a directory'

# once NAME WHY COMMAND...: COMMAND is autocast with what stands before it. Two
# processes count, so that both must find the place.
once()
{
	local name=$1 why=$2

	shift 2
	"$@" run --report=once.json sh -c './counting; ./counting 7' 2>err
	equal "$name" "$?,$(grep -c . err),$(normal <err | tail -n 1)" \
	    "7,4,autocast: nothing is kept for \"autocast report\": $why"
	equal "$name: the report" "$(grep -c '"pid"' once.json)" 2
	equal "$name: nothing is left" "$(ls "$TMPDIR")" ''
	rm -f once.json
	"$@" run true 2>err
	equal "$name: nothing was seen" "$?,$(normal <err | cut -d: -f 2)" \
	    '0, no call of cuBLAS or cuDNN was seen'
}

once 'no home' "there is no home directory; $set_it" \
    env -u HOME "$autocast"
touch file
once 'a home that is a file' \
    "PLACE/here/file/.local/state/autocast cannot be used: that is no directory; $set_it" \
    env HOME="$PWD/file" "$autocast"
long=/$(printf '%0300d/' 1 2 3 4 5 6 7 8 9 10 11 12 13)
once 'a home with a long path' "its directory cannot be used: the path is too long; $set_it" \
    env HOME="$long" "$autocast"
once 'a home with a longer path' "its directory cannot be used: the path is too long; $set_it" \
    env HOME="$long$long" "$autocast"
once 'AUTOCAST_STATE below a file' \
    "/dev/null/x cannot be used: that is no directory; $set_it" \
    env AUTOCAST_STATE=/dev/null/x "$autocast"
once 'a TMPDIR that is none' "there is no home directory; $set_it" \
    env -u HOME TMPDIR=/dev/null "$autocast"

# ---- File systems of one's own
if unshare -Urm true 2>/dev/null; then
	cat >on_disk <<'END'
mkdir -p disk && mount -t tmpfs -o "$1" none disk && {
	[ "$2" != ro ] || mount -o remount,ro disk
	shift 2
	HOME=$PWD/disk exec "$@"
}
END
	once 'a read-only home' \
	    "PLACE/here/disk/.local/state/autocast cannot be used: the file system is read-only; $set_it" \
	    unshare -Urm sh on_disk size=1m ro "$autocast"
	once 'a full disk' \
	    "PLACE/here/disk/.local/state/autocast cannot be used: the disk is full; $set_it" \
	    unshare -Urm sh on_disk size=16k rw "$autocast"
	equal 'compare: a full disk' "$(unshare -Urm sh on_disk size=16k rw \
	    env TMPDIR="$PWD/disk" "$autocast" compare -n 1 true 2>&1 |
	    tail -n 1 | sed 's/-[^-]*: the/-ID: the/' | normal)" \
	    'autocast: compare: cannot keep what a run wrote in PLACE/here/disk/autocast-compare-ID: the disk is full'
	equal 'tune: a full disk' "$(unshare -Urm sh on_disk size=16k rw \
	    env -u AUTOCAST_STATE "$autocast" tune true 2>&1 | sed 's,tune/.*: the,tune/ID: the,' | normal)" \
	    'autocast: tune: cannot keep what a run wrote in PLACE/here/disk/.local/state/autocast/tune/ID: the disk is full'
	# What decides in the directory still does.
	equal 'rates and validated lines are lent' "$(unshare -Urm sh on_disk size=1m ro \
	    "$autocast" run sh -c 'cd "$AUTOCAST_STATE"; readlink rates validated' 2>/dev/null | normal)" \
	    'PLACE/here/disk/.local/state/autocast/rates
PLACE/here/disk/.local/state/autocast/validated'
else
	skip 'a read-only home' 'no namespace of our own'
	skip 'a full disk' 'no namespace of our own'
	skip 'compare: a full disk' 'no namespace of our own'
	skip 'tune: a full disk' 'no namespace of our own'
	skip 'rates and validated lines are lent' 'no namespace of our own'
fi

# ---- Whoever wants none
AUTOCAST_STATE=off "$autocast" run ./counting 2>err
equal 'AUTOCAST_STATE=off' "$?,$(cat err)" \
    '0,autocast: nothing was counted: AUTOCAST_STATE is off; type: env -u AUTOCAST_STATE autocast run -- ./counting'
AUTOCAST_STATE=off AUTOCAST_NOTICE=off "$autocast" run ./counting 2>err
equal 'AUTOCAST_STATE=off, and no notice' "$?,$(cat err)" '0,'
AUTOCAST_STATE=off "$autocast" run --report=- ./counting >out 2>err
equal 'AUTOCAST_STATE=off with --report' "$?,$(head -c 25 out),$(tail -n 1 err)" \
    '0,autocast report: counting,autocast: nothing is kept for "autocast report": AUTOCAST_STATE is off'
equal 'and nothing is left' "$(ls "$TMPDIR")" ''

# ---- Runs in such a run, and what outlives it
env -u HOME "$autocast" run "$autocast" run ./counting 2>err
equal 'a run in such a run' "$?,$(grep -c . err),$(tail -n 1 err)" \
    '0,4,autocast: nothing is kept for "autocast report": the run around this one keeps nothing'
equal 'it leaves nothing' "$(ls "$TMPDIR")" ''
env -u HOME "$autocast" run sh -c 'AUTOCAST_STATE=$PWD/own ./counting' 2>err
equal "the program's own directory" "$?,$(find own -name '*.stats' | wc -l)" '0,1'
mkfifo go gone
env -u HOME AUTOCAST_NOTICE=off "$autocast" run sh -c '{ read -r _; ./counting 2>late; echo >gone; } <>go &'
echo >go
read -r _ <gone
equal 'what outlives its run brings no folder back' "$(ls "$TMPDIR"),$(cat late)" ,

# ---- What comes to nothing leaves nothing
env -u HOME "$autocast" run --report=missing/out ./counting 2>err
equal 'a report that cannot be written' "$?,$(ls "$TMPDIR")" '125,'
env -u HOME "$autocast" run ./missing 2>err
equal 'a program that is missing' "$?,$(ls "$TMPDIR")" '127,'
env -u HOME "$autocast" run sh -c './counting; kill -KILL $$' 2>err
equal 'a program that is killed' "$?,$(grep -c . err),$(ls "$TMPDIR")" '137,5,'

# ---- What another version left is nothing that a run speaks of
export AUTOCAST_STATE=$place/upgraded
"$autocast" run ./counting 2>err
stats=$(find "$AUTOCAST_STATE" -name '*.stats')
printf '\377' | dd of="$stats" bs=1 seek=8 conv=notrunc 2>/dev/null
"$autocast" run true 2>err
equal 'after an upgrade a run says nothing of older ones' \
    "$?,$(grep -c skipping err)" 0,0
"$autocast" report >out 2>err
equal 'but a report does' "$(grep -c 'skipping 1 statistics file ' err)" 1
plan
