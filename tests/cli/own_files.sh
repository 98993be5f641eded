#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# own_files.sh -- the user keeps files of his own where AUTOCAST_STATE says, with
# names like those that are written and removed there: none is missing or changed
# after any verb, and old runs still go.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
cp "$counting" counting
pretend_driver
mkdir "$AUTOCAST_STATE" elsewhere
cd "$AUTOCAST_STATE" || exit 99

# ---- Files of the user's: more than are kept where they are told apart by name,
# fewer where that takes a look into them, as they take the places of runs
plant()
{
	mkdir -p "$(dirname "$1")"
	echo 'mine' >"$1"
}
for i in $(seq 40); do
	hash=$(printf '%016x' "$i")
	for name in "notice-2026-$i.txt" "notice-$i-$i" "notice-run-${hash#????????}" \
	    "notice-$hash" "notice-$hash.txt" "job-$hash.txt" "$i-0-${hash#????????}.stats" \
	    "validated/$hash-$hash" "compared/$hash-$hash"; do
		plant "$name"
	done
	: >"notice-$i"
	[ "$i" -le 4 ] || continue
	plant "$(printf '%010d' "$i").000000000-99999999-0-${hash#????????}.stats"
	plant "$(printf '%010d' "$i").000000000-9999999999-0-${hash#????????}.stats"
	plant "job-$hash/notes"
	mkdir "job-$(printf '%016x' $((i + 100)))"
done
# In the folder of a job that is ours, and behind links of a stranger's.
job='job-00000000000000ff'
old=0000000001.000000000-99999999-0-00000001.stats
plant $job/notes
printf 'ACSTATS' >$job/$old
printf 'ACSTATS' >"$place/here/elsewhere/$old"
ln -s "$place/here/elsewhere" job-00000000000000fe
ln -s "$place/here/elsewhere/$old" 0000000000.000000000-99999999-0-00000001.stats
ln -s "$place/here/elsewhere/$old" notice-00000000000000fe
mkfifo 0000000000.000000000-99999999-1-00000001.stats notice-00000000000000fd
cd "$place/here" || exit 99

# listed: each thing with what it is, where it leads, and what is in it.
listed()
{
	find "$AUTOCAST_STATE" "$place/here/elsewhere" -printf '%y %p %l\n'
	find "$AUTOCAST_STATE" "$place/here/elsewhere" -type f -exec cksum {} +
}
listed | sort >before

# ---- Everything that looks there
# with NAMES COMMAND...: the same with files named after its process, too.
with()
{
	sh -c 'for name in $0; do echo mine >"$AUTOCAST_STATE/$name-$$"; done; exec "$@"' "$@"
}
for i in $(seq 36); do
	with 'try .compare' "$autocast" run ./counting 2>err || cat err
done
with try "$autocast" run true 2>/dev/null
"$autocast" report >out 2>err
"$autocast" report --list >list 2>err
"$autocast" report @1 @2 >/dev/null 2>&1
with 'try .compare' "$autocast" compare -n 1 ./counting >/dev/null 2>&1
"$autocast" doctor ./counting >/dev/null 2>&1
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=a ./counting
listed | sort >after
equal 'nothing is missing, nothing has changed' "$(comm -23 before after)" ''
equal 'nor what is named after a process' \
    "$(find "$AUTOCAST_STATE" -name 'try-*' -o -name '.compare-*' | wc -l)" 75
equal 'only runs have come' "$(comm -13 before after | grep '^[a-z] ' |
    grep -vE '/(try|\.compare)-[0-9]* $|\.stats $|/job-[0-9a-f]{16} $|/notice-[0-9a-f]{16} $')" ''
# 32 places, of which 17 are the user's; and a header.
equal 'old runs have gone' "$(wc -l <list)" 16
equal 'and there is a report' "$(head -n 1 out | cut -d, -f 1)" 'autocast report: counting'

# ---- A folder of a job that a stranger has put there
# The name is no secret: it is made of the job's.
export AUTOCAST_STATE=$place/shared
rank()
{
	OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=b ./counting
}
rank
folder=$(find "$AUTOCAST_STATE" -name 'job-*')
rm -r "$folder"
mkdir target
ln -s "$PWD/target" "$folder"
rank
equal 'a link in its place is not followed' "$?,$(ls target)" 0,
plan
