#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T1, T32: every function of the catalogue, in NVIDIA's own libraries, called
# with handles that are none (a GPU is needed to have one): the same answers,
# messages and crashes with the library as without, whether it is linked, looked
# up in a handle, by version or in the global scope; and every call is counted.
. "$(dirname "$0")/real.sh"
need libcublas
command -v python3 >/dev/null || skip_all 'python3 is not installed'

sonames='' link=''
for name in libcublas libcublasLt libcudnn libcusolver; do
	found=$(soname $name)
	if [ -n "$found" ]; then
		sonames="$sonames $found"
		link="$link $cuda_lib/$found"
	else
		skip "$name" "it is not installed in $cuda_lib"
	fi
done
python3 "$root/tests/real/rows.py" "$root" "$cuda_include" $sonames \
    >"$work/rows.inc" || exit 99
${CC:-cc} -D_GNU_SOURCE -O1 -I"$work" -Wl,--no-as-needed -o "$work/answers" \
    "$here/answers.c" $link -Wl,-rpath-link,"$cuda_lib" -ldl || exit 99

# What must be counted: each product and marker, six times (three handles, two
# inputs), or twice when there is no handle; groups count one by one, and not
# at all with the null handle, for which cuBLAS does not read them.
expected=$(python3 - "$work/rows.inc" "$root" <<'END'
import pathlib, re, sys
linked = dict(re.findall(r'\{ "(\w+)", "[^"]*", \w+, ([01]) \}',
                         pathlib.Path(sys.argv[1]).read_text()))
counted = set(re.findall(
    r'^(?:GEMM|GROUP|TRIANGLE|MATMUL|MARKER)\(.*?\b(cu[a-z]\w+),',
    pathlib.Path(sys.argv[2], 'shim/bind/entries.def').read_text(), flags=re.M))
for name in sorted(counted & set(linked)):
    print(name, 4 * 4 if 'Grouped' in name
          else 6 if linked[name] == '1' else 2)
END
)
echo "# $(wc -l <<<"$expected") functions that are counted, of $(grep -c '^	{ "' "$work/rows.inc")"

for way in linked handle version default own; do
	alone "$work/answers" $way >"$work/alone" 2>"$work/alone.err"
	equal "$way: it ends" 0 $?
	[ $way != linked ] || check 'control: there are answers of every kind' \
	    "$(grep -q 'status=1 ' "$work/alone" && grep -q signal= "$work/alone" &&
	        grep -q 'touched=[0-9]' "$work/alone" || cat "$work/alone")"
	check "$way: every function is found" "$(grep unfound "$work/alone")"
	for policy in off 'gemm -> fp16 profit=off'; do
		with "$policy" "$work/answers" $way >"$work/with" 2>"$work/with.err"
		check "$way: the same answers, '$policy'" \
		    "$(diff "$work/alone" "$work/with" | head -n 20)"
		same "$way: the same messages, '$policy'" "$work/alone.err" \
		    "$work/with.err"
		check "$way: every call is counted, '$policy'" \
		    "$(diff <(echo "$expected") <(counts))"
	done
done

# Control: an answer that is another.
echo 'int cublasGetStream_v2(void); int cublasGetStream_v2(void) { return 3; }' \
    >"$work/other.c"
${CC:-cc} -shared -fPIC -o "$work/other.so" "$work/other.c" || exit 99
LD_PRELOAD=$work/other.so alone "$work/answers" linked >"$work/with" 2>/dev/null
alone "$work/answers" linked >"$work/alone" 2>/dev/null
equal 'control: six other answers are seen' 6 \
    "$(diff "$work/alone" "$work/with" | grep -c '^>')"
plan
