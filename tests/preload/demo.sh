#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `./quickstart run` shows once everything is built: a table that says what
# is gained, at what error, and that off changes no bit; and commands that work.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$build/examples/digits_mlp" ] || skip_all 'the example was not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'digits.sh trains under sanitizers'

# Its functions, in a folder that has what is built.
mkdir -p "$work/tree/build"
for part in autocast libautocast.so emulator examples; do
	ln -s "$build/$part" "$work/tree/build/$part"
done
sed -e '/^cd /d' -e '/^\[ \$# = 1 \] ||/,$d' "$root/quickstart" \
    >"$work/functions"
cd "$work/tree" || exit 99
demo()
{
	(. "$work/functions" && ${1:-:} && run) >"$work/shown" 2>&1
}

# cell ROW COLUMN: the table has two blanks at least between its cells.
cell()
{
	sed -n "s/^$1  */&/p" "$work/shown" | awk -F'  +' "{ print \$$2 }"
}

demo
equal 'it ends well' 0 $?
check 'with ten lines at most' "$([ "$(grep -vc '^==>' "$work/shown")" -le 10 ] ||
    cat "$work/shown")"
plain=$(cell 'plain FP32' 2)
check "plain accuracy, $plain, is at least 0.9" \
    "$(awk -v a="$plain" 'BEGIN { if (!(a >= 0.9)) print a }')"
amp=$(cell 'autocast (amp)' 2)
check "accuracy under amp, $amp, is within 0.01 of it" \
    "$(awk -v a="$amp" -v p="$plain" \
        'BEGIN { d = a - p; if (!(a > 0) || d > 0.01 || d < -0.01) print d }')"
equal 'whose GPU time that is' 'GPU time, NVIDIA H200, estimated' "$(cell ' *accuracy' 3)"
before=$(cell 'plain FP32' 3) now=$(cell 'autocast (amp)' 3)
# Products of 2048 x 512 x 2048 are estimated to take FP32 92 us and FP16 with its
# casts and checks 54 us; others are kept, or timed in that epoch.
check "GPU time, $before, $now: half as fast again at least" \
    "$(echo "$before $now" | awk '{ f = $5 + 0; g = $1 / $3
        if (!(f >= 1.5) || $6 != "faster" || f - g > 0.06 || g - f > 0.06) print }')"
check 'the worst error is within the tolerance' \
    "$(cell 'autocast (amp)' 4 | awk '{ if (!($1 > 0 && $1 < $3 && $3 == 0.001)) print }')"
check 'some work is recast' "$(cell 'autocast (amp)' 5 | awk '{ if (!($1 > 20)) print }')"
equal 'off: as without the library' "$plain $before none: same bits 0 %" \
    "$(cell 'autocast, off' 2) $(cell 'autocast, off' 3) $(cell 'autocast, off' 4) $(cell 'autocast, off' 5)"
equal 'the next command takes a program' 7 \
    "$(eval "$(sed -n 's,^next: \(.*\) ./your-program,\1 sh -c "exit 7",p' "$work/shown")" 2>/dev/null; echo $?)"
check 'and the other one explains' \
    "$(eval "$(tail -n 1 "$work/shown")" | grep -q 'chosen' || tail -n 1 "$work/shown")"

for option in '--width=8' '--rate=1' --time; do
	LD_LIBRARY_PATH=$build/emulator "$build/examples/digits_cnn" $option x \
	    2>"$work/err"
	equal "digits_cnn has no $option" "2,1" "$?,$(grep -c 'unknown option' "$work/err")"
done

differ()
{
	cmp() { return 1; }
	train() { cp "$work/tree/build/kept/$1".* "$demo"; }
	mv "$work/tree/build/demo" "$work/tree/build/kept"
}
demo differ
equal 'other bits under off are a failure' 1 $?
equal 'and are said' 'OTHER BITS' "$(cell 'autocast, off' 4)"
plan
