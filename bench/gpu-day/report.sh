# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# report.sh -- sourced by `run`: from states and rows to results.md,
# results.json and conv.csv.

# The machine, once: what the device says, and what only the system knows.
machine()
{
	LD_LIBRARY_PATH=$DAY_LIBRARIES "$programs/numbers" machine \
	    >"$out/machine.new" 2>"$out/logs/machine" || return 1
	driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader \
	    2>/dev/null | head -n 1)
	[ -z "$emulated" ] || driver=none
	library_version=$("$build/autocast" --version 2>/dev/null | head -n 1)
	commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null)
	printf '%s\tdriver=%s\tdate=%s\tprocessor=%s\tcompiler=%s\tlibrary=%s\n' \
	    "$(head -n 1 "$out/machine.new")" "${driver:-unknown}" \
	    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(uname -m)" \
	    "$($cc --version | head -n 1)" \
	    "${library_version:-unknown}${commit:+, $commit}" >"$out/machine"
	rm -f "$out/machine.new"
	case $(cat "$out/machine") in
	*emulated=yes*) [ -n "$emulated" ] || die 'this is the emulated GPU' ;;
	esac
}

# Everything as one stream of tab-separated lines: M machine, S state, Q
# question, R row.
collected()
{
	[ ! -f "$out/machine" ] || sed 's/^row=machine/M/' "$out/machine"
	table | while read -r section step limit; do
		[ "$step" != - ] || continue
		word=not-run seconds=0
		[ ! -f "$out/state/$section.$step" ] ||
		    read -r word seconds <"$out/state/$section.$step"
		# Another process's, which is no more: this one sets `current`.
		if [ "$word" = running ] &&
		    [ "${current:-}.${step_now:-}" != "$section.$step" ]; then
			word=interrupted
		fi
		printf 'S\t%s\t%s\t%s\t%s\t%s\n' "$section" "$step" "$word" \
		    "$seconds" "$limit"
	done
	sed 's/^/Q	/' "$here/questions.txt"
	for rows in "$out"/rows/*.*; do
		[ -f "$rows" ] || continue
		name=${rows##*/}
		# A program that was killed may leave half a line.
		sed -n "s/^row=/R	${name%%.*}	${name#*.}	row=/p" \
		    "$rows"
	done
}

report()
{
	step_now=${step:-}
	collected >"$out/collected"
	awk -F '\t' -v emulated="$emulated" -f "$here/derive.awk" \
	    "$out/collected" >"$out/derived"
	awk -F '\t' -v emulated="$emulated" -f "$here/conv_csv.awk" \
	    "$out/collected" >"$out/conv.new" && mv "$out/conv.new" "$out/conv.csv"
	awk -F , -v rows=1 -f "$here/conv_gate.awk" "$out/conv.csv" \
	    >>"$out/derived"
	sed '/^#/d; s/,/\t/g; s/^/C\t/' "$out/conv.csv" >>"$out/derived"
	for kind_out in json md; do
		awk -F '\t' -v emulated="$emulated" -v quick="$quick" \
		    -f "$here/$kind_out.awk" "$out/collected" "$out/derived" \
		    >"$out/results.new" &&
		    mv "$out/results.new" "$out/results.$kind_out"
	done
	rm -f "$out/collected" "$out/derived"
}
