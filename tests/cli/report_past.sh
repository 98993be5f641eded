#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# report_past.sh -- the runs that are kept: as a list, and one against another.
. "$(dirname "$0")/transcript.sh"
eval "$(declare -f normal | sed '1s/normal/usual/')"
normal()
{
	usual | sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}/DATE/g' \
	    -e 's/^  wall .*/  wall     TIME/'
}

play 2
AUTOCAST_STATE=off show report --list
"$counting" 0
"$counting" 0 net+1 all
"$counting" 0 net+1 all other
"$counting" kill net+1 all 2>/dev/null
play 3
equal 'the older run stands first' "$("$autocast" report @2 @3)" "$("$autocast" report @3 @2)"
play 18
shown
equal 'what is refused writes nothing' "$(ls)" ''
"$autocast" report --list -o list.txt && "$autocast" report --list -o list.json &&
    "$autocast" report @1 @2 -o two.txt
ok '-o writes them' $?
equal 'as stdout gets them' "$(cat list.txt list.json two.txt)" \
    "$("$autocast" report --list && "$autocast" report --list --json && "$autocast" report @1 @2)"
for what in --list '@1 @2'; do
	"$autocast" report $what >/dev/full 2>err
	equal "a full disk is a failure: $what" "$?,$(wc -l <err)" 125,1
done

# A saved report takes the place of a run: the same but for its name.
export AUTOCAST_STATE=$place/baseline
"$counting" 0
"$autocast" report --json -o baseline.json
"$counting" kill 2>/dev/null
equal 'a run against a saved one' "$("$autocast" report @1 @2 | sed -E 's/@2/saved/; s/ +/ /g')" \
    "$("$autocast" report @1 baseline.json | sed -E 's/ +/ /g')"
equal 'in either order' "$("$autocast" report @1 baseline.json)" \
    "$("$autocast" report baseline.json @1)"
equal 'a saved one and two runs are too many' \
    "2 autocast: report: a saved report alone, or against one run; unexpected '@2'" \
    "$("$autocast" report @1 baseline.json @2 2>err; echo $? "$(cat err)")"
equal 'one that is not there' '125 autocast: report: cannot use no.json: No such file or directory' \
    "$("$autocast" report @1 no.json 2>err; echo $? "$(cat err)")"
export AUTOCAST_STATE=$place/state

# The list tells what the reports do.
"$autocast" report --json -o 1.json
equal 'the share is the one of the report' \
    "$(sed -n 's/.*"recast_share": //p' 1.json)" "$(sed -n 's/.*"recast_share": //p' list.json | head -n 1)"

# Which task of an array of jobs a run was; runs of none have no such column.
SLURM_ARRAY_JOB_ID=4711 SLURM_ARRAY_TASK_ID=3 AUTOCAST_STATE=$place/array "$counting" 0
AUTOCAST_STATE=$place/array "$counting" 0
equal 'tasks of an array' "$(AUTOCAST_STATE=$place/array "$autocast" report --list |
    sed -E 's/ +/ /g' | cut -d' ' -f 1,4-9)" 'run by task policy recast gain times
@1 counting 1 process - amp 90.9
@2 counting 1 process 4711_3 amp 90.9'
equal 'in JSON' "$(AUTOCAST_STATE=$place/array "$autocast" report --list --json |
    sed -n 's/.*"task": //p' | xargs)" ', 4711_3,'

# A run whose records are damaged keeps its number, and costs a line.
youngest=$(ls "$AUTOCAST_STATE"/1*.stats | tail -n 1)
symbol=$(grep -abo cublasSgemm_v2 "$youngest" | head -n 1 | cut -d: -f1)
printf '\377' | dd of="$youngest" bs=1 seek=$((symbol - 4)) conv=notrunc 2>/dev/null
"$autocast" report --list >damaged.txt 2>err
equal 'a damaged run is one line' "$?,$(wc -l <err),$(grep -c '^autocast: skipping .*damaged$' err)" 0,1,1
equal 'it keeps its number' "$(sed -n 2p damaged.txt)" '@1   cannot be read'
equal 'the others are as before' "$(sed 1,2d damaged.txt | tr -s ' ')" "$(sed 1,2d list.txt | tr -s ' ')"
equal 'in JSON too' "$("$autocast" report --list --json 2>/dev/null | tr -d ' \n' | cut -d, -f2)" '"runs":[{"which":1}'
"$autocast" report @1 @2 >out 2>err
equal 'it is compared with none' "$?,$(wc -c <out),$(tail -n 1 err)" \
    "125,0,autocast: report: the run's statistics are damaged; 'autocast report --list' shows others"

# No line is wider than 100 columns, whatever a program and its sites are called.
wide=./$(printf '\033[31m%060d' 7)
ln -s "$counting" "$wide"
AUTOCAST_STATE=$place/wide "$wide" 0 "$(printf 'c%.0s\033' $(seq 40))" all
AUTOCAST_STATE=$place/wide "$wide" 0 "$(printf 'c%.0s\033' $(seq 40))" all other
AUTOCAST_STATE=$place/wide "$autocast" report @1 @2 >wide
AUTOCAST_STATE=$place/wide "$autocast" report --list >>wide
equal 'within 100 columns, and nothing steers the terminal' \
    "$(awk 'length > 100' wide)$(tr -d '\n -~' <wide)" ''
plan
