#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What doc/programs.md says to type, to see regions and the gradient scaler, works;
# what doc/how-it-works.md says could.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$build/examples/scaler_loop" ] || skip_all 'the examples were not built'
[ -z "$sanitizer" ] ||
    skip_all 'autocast run does not preload the runtime of a sanitizer'
ln -s "$build/autocast" "$build/examples" "$work"
cd "$work" || exit 99
D=examples/digits.csv
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export D OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
unset AUTOCAST_NOTICE

# Rows of the table: | to see | `command` ... |
sed -n 's,^|[^|]*| `\(\./autocast run [^`]*examples/[^`]*\)`.*,\1,p' \
    "$root/doc/programs.md" >"$work/commands"
check 'doc/programs.md has a command for each example' \
    "$(for source in "$root"/examples/scaler_*.c "$root/examples/region.c"; do
	name=$(basename "$source" .c)
	grep -q "examples/$name\b" "$work/commands" "$root/doc/programs.md" ||
	    echo "$name"
    done | grep -v scaler_network)"
while read -r command; do
	case $command in *mpirun*)
		if [ ! -x examples/scaler_ranks ] || ! command -v mpirun >/dev/null; then
			skip "$command" 'no Open MPI (Debian: libopenmpi-dev openmpi-bin)'
			continue
		fi ;;
	esac
	check "$command" "$(timeout 60 bash -c "$command" >out 2>&1 </dev/null ||
	    { echo "status $?"; cat out; })"
done <"$work/commands"
check 'the files that commands of doc/how-it-works.md name are in a build folder' \
    "$(sed -n 's/^autocast run.* -- //p' "$root/doc/how-it-works.md" |
	grep -o '[^ ]*[/.][^ ]*' | while read -r file; do
	    [ -e "$file" ] || echo "$file"
	done)"
check 'what the two loops differ in can be shown' \
    "$(cd "$root" && diff -u examples/scaler_before.c examples/scaler_after.c >"$work/out"
       [ $? = 1 ] || echo 'no difference')"
plan
