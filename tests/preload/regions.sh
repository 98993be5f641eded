#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Regions that a program opens: what it asks for there, what the policy's own
# words about them do to that, and what nobody else notices.
. "$(dirname "$0")/preload.sh"
need_emulator
regions=$clients/regions
[ -e "$regions" ] || skip_all 'the program was not built'
forced='gemm -> fp16 profit=off guard=off'

# sites: each one's region, rung, reason and calls recast and kept.
sites()
{
	query '*sorted("%s %s %s %d %d" % (s["region"] or "-",
	    s["rung"], s["reason"], s["recast_calls"],
	    s["calls"] - s["recast_calls"]) for s in sites), sep="; "'
}

# ---- The bits of each rung, outside of any

native=$(bare "$regions" mul)
for rung in tf32 fp16 bf16; do
	declare "$rung=$(under "gemm -> $rung profit=off guard=off" "$regions" mul)"
done
check 'the rungs are known by their bits, but tf32 from fp16' \
    "$(printf '%s\n' "$native" "$fp16" "$bf16" | sort | uniq -d)"

# became WHAT POLICY WORDS BITS
became()
{
	equal "$1" "$4" "$(under "$2" "$regions" $3 2>&1 | tr '\n' ' ' |
	    sed 's/ $//')"
}

# ---- Without the library

equal 'without it: the stack works and nothing comes of it' \
    "$native $native status 21 status 1 $native" \
    "$(bare "$regions" mul push=a,0,bf16 mul pop pop push=a:b,1,fp8 mul |
	tr '\n' ' ' | sed 's/ $//')"

# ---- What the program asks for

became 'a disabled region is kept, bit for bit' "$forced" \
    'mul push=loss,0 mul pop mul' "$fp16 $native $fp16"
equal 'and is a site of its own' \
    '- fp16 none 2 0; loss keep region 0 1' "$(sites)"
for rung in tf32 bf16; do
	rm -rf "$AUTOCAST_STATE"
	became "a region's rung: $rung" "$forced" "push=enc,1,$rung mul" \
	    "${!rung}"
	equal "a region's rung: $rung, in the report" \
	    "enc $rung none 1 0" "$(sites)"
done
became 'of several, the first that is named' "$forced" \
    'push=enc,1,bf16+tf32 mul pop push=enc,1,tf32+bf16 mul' "$bf16 $tf32"
became 'one that is not accurate enough: the next' \
    'gemm -> fp16 tol=1e-3 profit=off guard=off' \
    'push=enc,1,bf16+tf32 mul' "$tf32"
rm -rf "$AUTOCAST_STATE"
became 'auto: any' 'gemm -> bf16 profit=off guard=off' 'push=enc,1,auto mul' \
    "$tf32"
equal 'as auto means it under the policy' 'enc tf32 none 1 0' "$(sites)"
became 'an enabled one changes nothing' "$forced" 'push=enc,1 mul' "$fp16"
became 'the innermost one alone counts' "$forced" \
    'push=a,0 mul push=b,1,bf16 mul push=c,1 mul pop mul pop mul pop mul' \
    "$native $bf16 $fp16 $bf16 $native $fp16"
became 'by whatever door a call comes' "$forced" \
    'push=loss,0 look mul pop look' "$native $native $native $fp16 $fp16"
became 'other threads are in none' "$forced" \
    'push=loss,0 thread mul' "$fp16 $native"
became 'one that fails to open changes nothing' "$forced" \
    'push=a,0,fp8 mul push=,0 mul' "status 1 $fp16 status 1 $fp16"

# ---- And what it cannot have

became 'a line that names the region is the last word' \
    "gemm region=loss -> bf16 profit=off guard=off;$forced" \
    'push=loss,0 mul pop push=loss,1,tf32 mul pop mul' "$bf16 $bf16 $fp16"
became 'by a pattern, too' \
    "gemm region=lo?s* -> bf16 profit=off guard=off;$forced" \
    'push=loss,0 mul' "$bf16"
became 'a line about all other regions is none that names it' \
    "gemm region!=enc -> tf32 profit=off guard=off;$forced" \
    'push=loss,0 mul pop push=loss,1,bf16 mul pop mul' "$native $bf16 $fp16"
became 'a line that keeps, keeps' 'gemm -> keep' 'push=enc,1,fp16 mul' "$native"
became 'and one for that region' "gemm region=enc -> keep;$forced" \
    'push=enc,1,fp16 mul' "$native"
equal 'by the rule' 'enc keep rule 0 1' "$(rm -rf "$AUTOCAST_STATE"
    under 'gemm -> keep' "$regions" push=enc,1,fp16 mul >/dev/null; sites)"
became 'off is off' off 'push=enc,1,fp16 mul' "$native"
became 'no line, no rung' 'gemm m=1 -> fp16' 'push=enc,1,fp16 mul' "$native"
rm -rf "$AUTOCAST_STATE"
became 'nor is the tolerance the region'\''s' "$forced tol=1e-3" \
    'push=enc,1,bf16 mul' "$native"
equal 'as the report says' 'enc keep unsupported 0 1' "$(sites)"

# ---- The report

rm -rf "$AUTOCAST_STATE"
under "$forced" "$regions" mul >/dev/null
outside=$(query 'sites[0]["id"]')
rm -rf "$AUTOCAST_STATE"
under "$forced" "$regions" mul push=loss,0 mul pop push=enc,1,bf16 mul \
    pop push=enc,1,tf32 mul pop push=loss,0 mul >/dev/null
equal 'a site each, by region and by what it asks for' \
    '- fp16 none 1 0; enc bf16 none 1 0; enc tf32 none 1 0; loss keep region 0 2' \
    "$(sites)"
equal 'outside of any the id is as it was' "$outside" \
    "$(query '[s["id"] for s in sites if not s["region"]][0]')"
equal 'the name is part of the id, and nothing else is' 3 \
    "$(query 'len({s["id"] for s in sites})')"
"$build/autocast" report -v >"$work/text"
equal 'with what the program asked for there' \
    "- True [] enc True ['bf16'] enc True ['tf32'] loss False []" \
    "$(query '*sorted("%s %s %s" % (s["region"] or "-", s["region_enabled"], s["region_rungs"]) for s in sites)' | tr '\n' ' ' | sed 's/ $//')"
equal 'as text: one row for a region, its last rung' \
    'in region enc, rungs tf32 in region loss, disabled' \
    "$(sed -n 's/^ *\(in region\)/\1/p' "$work/text" | sort | tr '\n' ' ' |
	sed 's/ $//')"
check 'the other rung stands below it' \
    "$(grep -qE '^ +[a-z: ]+ bf16 \([a-z]+\), by ' "$work/text" || cat "$work/text")"
id=$(query '[s["id"] for s in sites if s["region"] == "loss"][0]')
check 'a line may name such a site' "$(under "gemm site=$id region=loss -> bf16 profit=off guard=off;$forced" \
    "$regions" push=loss,0 mul | grep -vx "$bf16")"
check 'explain knows the region of a site' "$("$build/autocast" explain "$id" |
    grep -q ' region=loss' || echo no)"
rm -rf "$AUTOCAST_STATE"
under "$forced" "$regions" push=enc,1,bf16 mul >/dev/null
equal 'and what the program asked for there' 'The region is to run on bf16.' \
    "$("$build/autocast" explain -e "$forced" "$(query 'sites[0]["id"]')" |
    sed -n 's/^ *\(The region is.*\)/\1/p')"

# ---- The example, which links nothing for it

example=$build/examples/region
errors()
{
	awk '{ print($NF < 1e-6 ? "good" : $NF > 1e-4 ? "bad" : "?") }' |
	    paste -sd' '
}
if [ -e "$example" ]; then
	equal 'examples/region: in FP32' 'good good' "$(bare "$example" | errors)"
	equal 'examples/region: the residual in a region of its own' \
	    'bad good' "$(under "$forced" "$example" | errors)"
fi

# ---- On probation

rm -rf "$AUTOCAST_STATE"
under 'gemm -> fp16 profit=off tol=2.9e-4' "$regions" push=loss,1 \
    mul mul mul mul mul mul mul mul >"$work/out"
equal 'a site that was on trial and is demoted stays in its region' \
    'loss fp16 none 3 3; loss keep guard 0 2' "$(sites)"
equal 'and keeps its id' 1 "$(query 'len({s["id"] for s in sites})')"

rm -rf "$AUTOCAST_STATE"
if [ -z "${SANITIZERS:-}" ]; then
	under 'gemm -> fp16 profit=off own=0' "$regions" many=1200
	equal 'a site in 1200 regions is remembered in each' 1200 \
	    "$(query 'sum(s["recast_calls"] > 0 for s in sites)')"
else
	skip 'a site in 1200 regions' 'it takes a sanitizer minutes'
fi

# ---- Threads

rm -rf "$AUTOCAST_STATE"
became 'two threads in regions of their own' "$forced" 'both=loss,enc' \
    "$native $fp16"
equal 'and every call counts in its own' \
    'enc fp16 none 30 0; loss keep region 0 30' "$(sites)"

# ---- Convolutions, of programs that know nothing of it

# inside REGION POLICY PROGRAM ARGS
inside()
{
	rm -rf "$AUTOCAST_STATE"
	LD_LIBRARY_PATH=$emulator AUTOCAST_POLICY=$2 REGION=$1 \
	    LD_PRELOAD=$preload:$clients/in_region.so "${@:3}"
}

# ---- Products of cublasLt

lt=("$clients/lt_matrix" kind=fp32 order=tn batch=one c=unread scalars=host
    epilogue=GELU_BIAS calls=8 bits=8)
for policy in "$forced" 'gemm -> tf32 profit=off guard=on'; do
	equal "cublasLt: a disabled region is kept: $policy" \
	    "$(bare "${lt[@]}")" "$(inside loss,0 "$policy" "${lt[@]}" 2>&1)"
	equal '... and says so' 'loss keep region 0 8' "$(sites)"
done
_=$(inside enc,1,bf16 "$forced" "${lt[@]}" 2>&1)
equal "cublasLt: a region's rung" 'enc bf16 none 4 4' "$(sites)"
_=$(inside enc,1 "$forced" "${lt[@]}" 2>&1)
equal 'cublasLt: an enabled one changes nothing' 'enc fp16 none 4 4' "$(sites)"

if [ ! -e "$emulator/libcudnn.so.9" ]; then
	skip 'convolutions' 'the emulated cuDNN was not built'
	plan
	exit
fi
all='* -> fp16,tf32 profit=off guard=off'
bare "$clients/convolving" calls=2 >"$work/bare"
inside loss,0 "$all" "$clients/convolving" calls=2 >"$work/kept"
same 'a convolution in a disabled region' "$work/bare" "$work/kept"
equal 'is kept' 'loss keep region 0 2' "$(sites)"
inside enc,1,tf32 "$all" "$clients/convolving" calls=2 math=0 >"$work/tf32"
equal 'a convolution'\''s rung' 'enc keep no-profit 0 2' "$(sites)"
inside enc,1 "$all" "$clients/convolving" calls=2 >"$work/fp16"
equal 'as outside' 'enc fp16 none 2 0' "$(sites)"
inside loss,0 "conv region=loss -> fp16 profit=off guard=off" \
    "$clients/convolving" calls=2 >"$work/named"
same 'a line that names it' "$work/fp16" "$work/named"
if [ -e "$build/examples/graph_conv" ]; then
	inside loss,0 "$all" "$build/examples/graph_conv" >/dev/null
	equal 'a plan of a disabled region' 'loss keep region' \
	    "$(query '*{(s["region"], s["rung"], s["reason"]) for s in sites}.pop()')"
	inside enc,1,fp16 "$all" "$build/examples/graph_conv" >/dev/null
	equal 'and of another' 'enc fp16 none' \
	    "$(query '*{(s["region"], s["rung"], s["reason"]) for s in sites}.pop()')"
fi
plan
