#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# completion.sh -- what bash, zsh and fish complete by knows every verb and
# every option, and the shells take it.
. "$(dirname "$0")/transcript.sh"

play 4
shown

for shell in bash zsh fish; do
	"$autocast" completion $shell >"$place/$shell" 2>"$place/said"
	ok "$shell: something is printed" $? "$(cat "$place/said")"
done

# Every verb with every option, as the helps have them.
missing=
for verb in $("$autocast" --help | sed -n 's/^  \([a-z]*\)  *[A-Z].*/\1/p'); do
	for option in $("$autocast" "$verb" --help |
	    sed -nE 's/^  (-[a-z], )?--?([a-z-]+).*/\2/p'); do
		grep -A 1 "^	$verb)" "$place/bash" |
		    grep -qE "options='(.* )?--?$option " ||
			missing="$missing bash:$verb:$option"
		sed -n "/^		$verb) /,/;;/p" "$place/zsh" |
		    grep -qE "\*--?${option}[=+[]" ||
			missing="$missing zsh:$verb:$option"
		grep "from $verb'" "$place/fish" | grep -qE " -[ls] $option " ||
			missing="$missing fish:$verb:$option"
	done
done
equal 'every option of every verb is in all three' "$missing" ''

# answers WORD...: what bash offers for the last word.
answers()
{
	bash --norc -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_autocast; echo "${COMPREPLY[*]}"' "$place/bash" autocast "$@"
}

echo 'gemm -> tf32' >fine.policy
touch program
equal 'bash: a verb' "$(answers rep)" report
equal 'bash: an option' "$(answers run --emu)" --emulate
equal 'bash: a profile or a file' "$(answers run --policy f)" 'fp16 fine.policy'
equal 'bash: a model' "$(answers run --emulate = rtx40)" rtx4090
equal 'bash: an action' "$(answers policy sh)" show
equal 'bash: options of the program are its own' "$(answers run program --re)" ''
equal 'bash: its arguments are files' "$(answers run -e x program 'fi')" fine.policy

# Bash takes = and @ for words.
PATH=$build:$PATH
equal 'bash: a profile to show' "$(answers policy show f)" 'fp16 fine.policy'
equal 'bash: an operation' "$(answers explain gemm.st)" gemm.strided
equal 'bash: a GPU' "$(answers explain gemm.single gpu = h1)" h100
equal 'bash: no run is kept' "$(answers report @)" ''
"$counting" 0
"$counting" 0
equal 'bash: runs' "$(answers report @),$(answers report @ 2),$(answers report '')" \
    '1 2,2,@1 @2 fine.policy program'
site=$("$autocast" report --csv | sed -n '2s/,.*//p')
equal 'bash: a site' "$(answers explain "${site:0:6}")" "$site"
equal 'bash: options of such a verb' "$(answers report --sor)" --sort
if command -v zsh >/dev/null; then
	zsh -n "$place/zsh" >"$place/said" 2>&1
	ok 'zsh: takes it' $? "$(cat "$place/said")"
else
	skip 'zsh: takes it' 'no zsh'
fi
if command -v fish >/dev/null; then
	export HOME=$place
	offer()
	{
		fish --no-config -c "source $place/fish; complete -C '$1'" |
		    cut -f 1 | sort | tr '\n' ' '
	}
	equal 'fish: a verb' "$(offer 'autocast rep')" 'report '
	equal 'fish: an option' "$(offer 'autocast run --rang')" '--ranges '
	equal 'fish: an action' "$(offer 'autocast policy sh')" 'show '
else
	skip 'fish: takes it' 'no fish'
fi
plan
