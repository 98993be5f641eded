#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [NAME...] -- makes the programs of programs.def, runs each plainly and
# under each profile on the emulated GPU, and writes RESULTS.md of all. What is
# downloaded and made stays in the build folder. Status 1: an outcome is not what
# its row says.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${top_builddir:-$root/build}" && pwd) || exit 2
made=$build/tests/strangers
lib=$build/emulator
profiles='off tf32 fp16 bf16 amp'
LIMIT=600 # seconds that a run may take
unset "${!AUTOCAST_@}"
export AUTOCAST_STATE=$made/state
mkdir -p "$made/bin" "$made/venv" "$made/log" "$AUTOCAST_STATE"
status=0

# The columns of one row, in $name, $by, $with, $checked and $outcome.
split()
{
	IFS='|' read -r name by with checked outcome <<<"$1"
	for column in name by with checked outcome; do
		read -r "${column?}" <<<"${!column}"
	done
	with=${with//@lib@/$lib}
}

# Sets $program, an array; false: cannot be made here, and $why.
make_program()
{
	local kind=${by%% *} rest=${by#"${by%% *}"} venv
	case $kind in
	nvcc)
		command -v nvcc >/dev/null || {
			why='there is no nvcc here'
			return 1
		}
		program=("$made/bin/$name")
		[ "${program[0]}" -ot "$here/programs/$name.cu" ] ||
		    [ "${program[0]}" -ot "$here/programs/user.h" ] ||
		    return 0
		nvcc -std=c++17 -cudart shared -gencode \
		    arch=compute_80,code=compute_80 -o "${program[0]}" \
		    "$here/programs/$name.cu" $rest >"$log.made" 2>&1 || {
			why='nvcc refuses it'
			return 1
		} ;;
	pip)
		set -- $rest
		venv=$made/venv/${1%%[*}
		program=("$venv/bin/python" "$here/python/$name.py")
		[ -e "$venv/complete" ] || { python3 -m venv "$venv" &&
		    "$venv/bin/pip" install -q "$@" &&
		    "$venv/bin/pip" freeze >"$venv/complete"; } \
		    >"$log.made" 2>&1 || {
			why='pip cannot install it'
			return 1
		}
		with=${with//@nvidia@/$(echo "$venv"/lib/python*/site-packages/nvidia)} ;;
	esac
}

# Run it; the last argument: a profile, or plain. Sets $cell.
run_one()
{
	local tolerance=1e-3 how=$1 rc
	# A policy may allow BF16 what BF16 is off by.
	[ "$how" != bf16 ] || tolerance=8e-3
	local -a command=("$build/autocast" run --emulate -e 'set profit=off' \
	    --policy "$how" --report "$log.$how.json" --)
	rm -f "$log.$how.json"
	if [ "$how" = plain ]; then
		env TOLERANCE=$tolerance LD_LIBRARY_PATH="$lib" $with \
		    timeout $LIMIT "${program[@]}"
	else
		env TOLERANCE=$tolerance $with timeout $LIMIT \
		    "${command[@]}" "${program[@]}"
	fi >"$log.$how" 2>&1 </dev/null
	rc=$?
	cell=no
	[ $rc != 0 ] || cell=yes
	[ $rc != 124 ] || cell=late
	if [ "$outcome" != runs ]; then
		if [ $cell = yes ]; then
			complain "$name runs by now ($how): its row says: $outcome"
		elif ! grep -qF -e "${outcome%% -- *}" "$log.$how"; then
			complain "$name ($how) does not end as its row says: $log.$how"
		fi
	elif [ $cell != yes ]; then
		complain "$name ($how): $(tail -n 1 "$log.$how")"
	fi
}

complain()
{
	echo "not right: $*" >&2
	status=1
}

# Calls that were recast in the run under this profile.
recasts()
{
	local calls # the totals' come first
	calls=$(sed -n 's/.*"recast_calls": *\([0-9]*\).*/\1/p' \
	    "$log.$1.json" 2>/dev/null | head -n 1)
	echo "${calls:-0}"
}

versions()
{
	nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/nvcc \1/p'
	"$build/autocast" --version | head -n 1
	for list in "$made"/venv/*/complete; do
		[ ! -e "$list" ] || grep -iE "^(numba-cuda|taichi|tinygrad|cuda-core|pycuda|torch|triton|onnxruntime-gpu|jax|cupy-cuda13x|warp-lang|xgboost)==" "$list"
	done | sed 's/==/ /' | sort -u
}

rows=$made/rows
: >"$rows"
while IFS= read -r line; do
	case $line in '' | '#'*) continue ;; esac
	split "$line"
	[ $# = 0 ] || [[ " $* " = *" $name "* ]] || continue
	log=$made/log/$name
	why=
	if ! make_program; then
		echo "$name: $why"
		echo "| \`$name\` | $by | $checked | - | - | - | - | - | - | - | $why |" >>"$rows"
		continue
	fi
	cells=
	for how in plain $profiles; do
		run_one "$how"
		cells="$cells $cell |"
	done
	recast="$(recasts tf32) / $(recasts fp16) / $(recasts bf16) / $(recasts amp)"
	[ "$outcome" = runs ] || why=${outcome#* -- }
	echo "$name:$cells $why"
	echo "| \`$name\` | $by | $checked |$cells $recast | $why |" >>"$rows"
done <"$here/programs.def"

# As bench/gpu-day/report.sh has it; a result of nobody knows what is none.
commit=$(if [ -e "$root/.git" ]; then
	git -C "$root" describe --always --dirty --exclude='*'
else
	sed '/[$]/d' "$root/bench/gpu-day/commit"
fi)
page=$here/RESULTS.md
[ $# = 0 ] || page=$made/RESULTS.md
{
	echo '# Programs on the emulated GPU'
	echo
	echo "Made by \`make strangers\` in a build folder of commit ${commit:-unknown};"
	echo '`tests/strangers/README.md` explains it.'
	echo "On $(date -u +%Y-%m-%d), with $(versions | paste -sd, | sed 's/,/, /g')."
	echo '*recast*: calls recast under tf32 / fp16 / bf16 / amp, all with'
	echo '`profit=off`. No times: nothing here ran on a GPU.'
	echo
	echo '| program | made by | checks | plain | off | tf32 | fp16 | bf16 | amp | recast | why not |'
	echo '|---|---|---|---|---|---|---|---|---|---|---|'
	cat "$rows"
} >"$page.new" && mv "$page.new" "$page"
echo "strangers: $(grep -c '| yes |' "$rows") of $(grep -c . "$rows") run; $page"
exit $status
