# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# report.sh -- sourced by `run`: from states and rows to results.md,
# results.json, conv.csv and rest.tar.gz, each of which is always whole.

# The machine, once: what the device says, and what only the system knows. It
# stays the same for all results of a folder.
machine()
{
	LD_LIBRARY_PATH=$DAY_LIBRARIES timeout -k 5 90 "$programs/numbers" \
	    machine >"$work/machine.said" 2>"$work/logs/machine" || return 1
	driver=$(timeout -k 5 20 nvidia-smi --query-gpu=driver_version --format=csv,noheader \
	    2>/dev/null | head -n 1)
	[ -z "$emulated" ] || driver=none
	library_version=$("$build/autocast" --version 2>/dev/null | head -n 1)
	commit=$(commit)
	[ -n "$commit$emulated" ] ||
		die 'no commit is known of this tree: results would be of nothing'
	printf '%s\tdriver=%s\tdate=%s\tprocessor=%s\tcompiler=%s\tlibrary=%s\n' \
	    "$(head -n 1 "$work/machine.said")" "${driver:-unknown}" \
	    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(uname -m)" \
	    "$($cc --version | head -n 1)" \
	    "${library_version:-unknown}${commit:+, $commit}" \
	    >"$work/machine.new"
	rm -f "$work/machine.said"
	case $(cat "$work/machine.new") in
	*emulated=yes*) [ -n "$emulated" ] || die 'this is the emulated GPU' ;;
	esac
	if [ -f "$work/machine" ] &&
	    [ "$(gpu_of "$work/machine")" != "$(gpu_of "$work/machine.new")" ]
	then
		die "$out holds results of another GPU ($(gpu_of "$work/machine"))"
	fi
	mv "$work/machine.new" "$work/machine"
}

# The commit of this tree: of its repository, or what `git archive` and `make dist`
# wrote into a file.
commit()
{
	if [ -e "$root/.git" ]; then
		git -C "$root" describe --always --dirty --exclude='*'
	else
		sed '/[$]/d' "$here/commit"
	fi
}

gpu_of()
{
	tr '\t' '\n' <"$1" | sed -n 's/^gpu=//p'
}

# Everything as one stream of tab-separated lines: M machine, S state, Q
# question, U what others published, R row.
collected()
{
	[ ! -f "$work/machine" ] || sed 's/^row=machine/M/' "$work/machine"
	table | while read -r section step limit; do
		[ "$step" != - ] || continue
		word=not-run seconds=0
		[ ! -f "$work/state/$section.$step" ] ||
		    read -r word seconds <"$work/state/$section.$step"
		printf 'S\t%s\t%s\t%s\t%s\t%s\n' "$section" "$step" "$word" \
		    "$seconds" "$limit"
	done
	sed 's/^/Q	/' "$here/questions.txt"
	sed '/^#/d; s/^/U	/' "$here/published.txt"
	for rows in "$work"/rows/*.*; do
		[ -f "$rows" ] || continue
		name=${rows##*/}
		# A program that was killed may leave half a line.
		sed -n "s/^row=/R	${name%%.*}	${name#*.}	row=/p" \
		    "$rows"
	done
}

# publish NAME COMMAND...: what it prints becomes a file of the results, whole or
# not at all.
publish()
{
	published=$1
	shift
	"$@" >"$out/.new" && mv "$out/.new" "$out/$published"
}

# What else there is. Files may grow while they are read.
rest()
{
	(cd "$work" && set -- kind rows state logs reports calibration
	[ ! -f machine ] || set -- machine "$@"
	tar czf - "$@" 2>/dev/null)
	[ $? -le 1 ]
}

report()
{
	collected >"$work/collected.$$"
	awk -F '\t' -v emulated="$emulated" -f "$here/derive.awk" \
	    "$work/collected.$$" >"$work/derived.$$"
	publish conv.csv awk -F '\t' -v emulated="$emulated" \
	    -f "$here/conv_csv.awk" "$work/collected.$$"
	awk -F , -v rows=1 -f "$here/conv_gate.awk" "$out/conv.csv" \
	    >>"$work/derived.$$"
	sed '/^#/d; s/,/\t/g; s/^/C\t/' "$out/conv.csv" >>"$work/derived.$$"
	for kind_out in json md; do
		publish results.$kind_out awk -F '\t' -v emulated="$emulated" \
		    -v quick="$quick" -f "$here/$kind_out.awk" \
		    "$work/collected.$$" "$work/derived.$$"
	done
	publish rest.tar.gz rest
	rm -f "$work/collected.$$" "$work/derived.$$"
}
