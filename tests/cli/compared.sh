#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# compared.sh -- a run whose output nobody compared with that of plain runs says
# so, and what to type; a comparison of this program, under this policy, on this
# GPU ends that, and no other.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
[ -x "$counting" ] || skip_all 'tests/cli/counting is not built'
mkdir "$place/tmp"
export TMPDIR=$place/tmp
never="autocast: output not yet compared with that of plain FP32 runs; type: "
differs="autocast: this program's output differs from that of plain runs; type: "
before="autocast: this program's output was compared before the program was changed, not since; type: "
elsewhere="autocast: this program's output was compared under another policy or on another GPU only; type: "
next='autocast: "autocast report" shows every site, "autocast explain ID" why; AUTOCAST_POLICY=off recasts nothing'

# program NAME TEXT: a script that counts as a program would, and prints TEXT.
program()
{
	printf '#!/bin/bash\n%s 0\n%s\n' "$counting" "$2" >"$1"
	chmod +x "$1"
}

# last ARGUMENTS: the last line of such a run.
last()
{
	"$autocast" run "$@" 2>&1 >/dev/null | tail -n 1
}

# compare ARGUMENTS: its status, whatever the times are; what it says on stderr.
compare()
{
	{ AUTOCAST_NOTICE=off "$autocast" compare -n 1 --limit 1000000 "$@" >/dev/null; } 2>&1
	echo "[$?]"
}

program train 'echo "loss 0.5 after $# arguments"'
equal 'at first nobody has' "$(last ./train)" "${never}autocast compare -- ./train"
equal 'with what was typed, for a shell' \
    "$(last -e 'gemm m=3 -> keep' -e 'gemm m=4 -> keep' --policy tf32 ./train 20 "it's" '')" \
    "${never}autocast compare --policy tf32 -e 'gemm m=3 -> keep' -e 'gemm m=4 -> keep' -- ./train 20 'it'\''s' ''"
equal 'what is too long to type is not shown' "$(last ./train "$(printf '%600s' x)")" \
    "${never}autocast compare, with the same options and arguments"
equal 'the program is told nothing' "$("$autocast" run ./train 2>/dev/null)" 'loss 0.5 after 0 arguments'
equal 'who wants no lines has none' "$(AUTOCAST_NOTICE=off last ./train)" ''
equal 'what recast nothing needs no comparison' "$("$autocast" run sh -c 'exit 0' 2>&1 | grep compare)" ''

equal 'compared' "$(compare ./train)" '[0]'
equal 'then that is the end of it' "$(last ./train)" "$next"
equal 'with other arguments, too' "$(last ./train 5)" "$next"
cp train elsewhere
equal 'and in another place' "$(last ./elsewhere)" "$next"
equal 'not under another policy' "$(last --policy tf32 ./train)" \
    "${elsewhere}autocast compare --policy tf32 -- ./train"
equal 'nor with another line' "$(AUTOCAST_RULES='gemm m=3 -> keep' last ./train)" \
    "${elsewhere}autocast compare -- ./train"
program other 'echo "loss 0.25"'
equal 'nor of another program' "$(last ./other)" "${never}autocast compare -- ./other"
echo '# changed' >>train
equal 'nor once it was changed' "$(last ./train)" "${before}autocast compare -- ./train"
equal 'compared again' "$(compare ./train)" '[0]'
equal 'that counts' "$(last ./train)" "$next"
equal 'the stamp of the old one is gone' "$(find "$AUTOCAST_STATE/compared" -type f | wc -l)" 1
equal 'under a second policy' "$(compare --policy tf32 ./train)" '[0]'
equal 'both count' "$(last ./train; last --policy tf32 ./train)" "$next
$next"

# ---- What runs it
program second.py 'echo "loss 1.5"'
equal 'an interpreter is compared with its script' "$(compare bash ./second.py; last bash ./second.py)" "[0]
$next"
equal 'another script is another program' "$(last bash ./other)" "${never}autocast compare -- bash ./other"
echo '# changed' >>second.py
equal 'a changed one, too' "$(last bash ./second.py)" "${before}autocast compare -- bash ./second.py"
equal 'as is another text' "$(compare bash -c '"$0"; echo 1' "$counting"; last bash -c '"$0"; echo 1' "$counting")
$(last bash -c '"$0"; echo 2' "$counting")" "[0]
$next
${never}autocast compare -- bash -c '\"\$0\"; echo 2' $counting"
compare bash -c '"$0"; echo 2' "$counting" >/dev/null
equal 'both texts count' "$(last bash -c '"$0"; echo 1' "$counting"; last bash -c '"$0"; echo 2' "$counting")" "$next
$next"

equal 'a launcher is not the program' "$(last nice -n 1 bash -c '"$0"; echo 1' "$counting"
    last env A=1 nice bash ./other; last nice ./train)" "$next
${never}autocast compare -- env A=1 nice bash ./other
$next"

# ---- What it found
program worse 'case $LD_PRELOAD in *libautocast.so*) echo 2 ;; *) echo 1 ;; esac'
equal 'one that differs' "$(compare ./worse; last ./worse)" "[1]
${differs}autocast compare -- ./worse"
program silent :
equal 'nothing to compare' "$(compare ./silent; last ./silent)" \
    "autocast: compare: the runs wrote nothing that could be compared; --files names what they write
[0]
${never}autocast compare -- ./silent"
program writes 'echo 3 >numbers'
equal 'a file will do' "$(compare --files numbers ./writes; last ./writes)" "[0]
$next"
program broken 'exit 3'
equal 'a run that failed leaves nothing' "$(compare ./broken; last ./broken)" \
    "autocast: compare: the plain run 1 of 2 ended with status 3
[3]
${never}autocast compare -- ./broken"

# ---- Files of strangers
printf 'same\n' >"$AUTOCAST_STATE/compared/junk"
head -c 9000 /dev/urandom >"$AUTOCAST_STATE/compared/0000000000000001-0000000000000002"
mkfifo "$AUTOCAST_STATE/compared/0000000000000003-0000000000000004"
equal 'junk harms nobody' "$(last ./train; last ./other)" "$next
${never}autocast compare -- ./other"
equal 'without a place nothing is said' "$(AUTOCAST_STATE=/dev/null/x "$autocast" run ./train 2>&1 >/dev/null |
    grep -c 'autocast compare')" 0
plan
