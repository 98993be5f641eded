#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Seed and update lines: scaled where that was validated, with the same weights
# bit for bit; refused, by name, where a scaled error would not be harmless.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$clients/linear_sgd" ] || skip_all 'the client was not built'
[ -z "${SANITIZERS:-}" ] ||
    skip_all 'autocast run preloads no sanitizer into plain programs'
autocast=$build/autocast
sgd=$clients/linear_sgd

# lines SCALE UPDATES [POLICY]: a policy in $work/policy.
lines()
{
	printf '%s\n' 'version 2' \
	    "seed   fn=cublasSscal_v2 n=80 -> scale=$1" \
	    "update fn=cublasSaxpy_v2 $2 -> unscale" \
	    "${3:-otherwise off}" >"$work/policy"
}

# say_all VARIANT: what validate says, places in the program left out.
say_all()
{
	"$autocast" policy validate --emulate --policy "$work/policy" -- "$sgd" \
	    "$1" 2>&1 | sed 's/\(linear.sgd\)+[0-9a-f]*/\1/g'
	echo "[${PIPESTATUS[0]}]"
}

# validate VARIANT: without what no line means.
validate()
{
	say_all "$1" | grep -v 'no line means'
}

# weights FILE VARIANT [COMMAND...]: run with the policy, print the weights.
weights()
{
	under "$work/policy" "$sgd" "$1" 2>"$work/said"
}

seen()
{
	query '"; ".join(sorted("%s: %d" % (m["symbol"], m["calls"]) for m in report["markers"]))'
}

plain=$(bare "$sgd" plain)
lines '2^16' n=120,50

# ---- Not validated: nothing is scaled, and that is said once.
equal 'not validated: the weights are the program'\''s own' "$plain" \
    "$(weights plain)"
equal 'not validated: one line says so and names the verb' \
    'autocast: the policy'\''s seed and update lines do nothing: nobody has validated them for this program; "autocast policy validate -- linear_sgd ..." with the same policy does' \
    "$(cat "$work/said")"
equal 'not validated: the report says so' \
    'cublasSaxpy_v2: update, not validated: 8; cublasSscal_v2: seed, not validated: 4' \
    "$(seen)"
equal 'not validated: autocast run refuses the policy' \
    "autocast: run: the policy's seed and update lines would do nothing: 'autocast policy validate', with this policy and the program, comes first; nothing was started
2" \
    "$("$autocast" run --emulate --policy "$work/policy" "$sgd" 2>&1; echo $?)"

# ---- Refused, each with its reason.
other='with a scale of 2^16 update 1 (cublasSaxpy_v2, n=120, linear_sgd) writes something else: between the seeds and it something is not linear, or is not scaled'
while read -r variant reason; do
	[ "$reason" != other ] || reason=$other
	equal "refused: $variant" "autocast: policy validate: $reason
[1]" "$(validate "$variant")"
done <<'END'
momentum other
decay other
clip other
adam other
host no call is meant by an update line
device update 8 (cublasSaxpy_v2, n=50, linear_sgd) has its scalar in device memory, where it is not multiplied
sometimes with a scale of 2^16 other calls are made, or in another order, from update 1 (cublasSaxpy_v2, n=120, linear_sgd) on: something looks at scaled values, or several threads make them
noise the program does not compute the same twice: two runs without a scale differ from update 1 (cublasSaxpy_v2, n=120, linear_sgd) on
graph update 1 (cublasSaxpy_v2, n=120, linear_sgd) is captured into a graph, which hides what it writes
zero a scale of 2^16 changes nothing: what the seed multiplies is zero or not finite
still these runs prove nothing: no update changes its vector by something that the scale reached (a step of zero? values that are not finite?)
once these runs prove nothing: no seed follows an update, so what the updates wrote was never used; make it two steps or more
seedless no call before the first update is meant by a seed line
END
lines '2^16' n=120
equal 'refused: an update that no line means' "autocast: policy validate: with a scale of 2^16 update 2 (cublasSaxpy_v2, n=120, linear_sgd) writes something else: between the seeds and it something is not linear, or is not scaled
[1]" "$(validate plain)"
equal 'and what no line means is named, where the scale reached it' \
    'autocast: policy validate: no line means fn=cublasSaxpy_v2 n=80 caller=linear_sgd, 2 calls, which wrote something else with the scale
autocast: policy validate: no line means fn=cublasSaxpy_v2 n=50 caller=linear_sgd, 1 call, which wrote something else with the scale' \
    "$(say_all plain | grep 'no line means')"
lines '2^16' n=7
equal 'where no update is meant all are named, with their n' \
    'autocast: policy validate: no call is meant by an update line
autocast: policy validate: no line means fn=cublasSaxpy_v2 n=80 caller=linear_sgd, 4 calls, which wrote something else with the scale
autocast: policy validate: no line means fn=cublasSaxpy_v2 n=120 caller=linear_sgd, 4 calls, which wrote something else with the scale
autocast: policy validate: no line means fn=cublasSaxpy_v2 n=50 caller=linear_sgd, 4 calls, which wrote something else with the scale
[1]' "$(say_all plain)"
lines '2^16' n=120,50,80
equal 'refused: a line that means another call' "autocast: policy validate: no call before the first update is meant by a seed line
[1]" "$(validate plain)"
equal 'refused: two programs at once' 'autocast: policy validate: 2 processes of a run made calls that a line means; one at a time, please
1' \
    "$("$autocast" policy validate --emulate --policy "$work/policy" -- \
        sh -c "$sgd; $sgd" 2>&1; echo $?)"
equal 'no stamp was left' '' "$(find "$AUTOCAST_STATE" -path '*validated/*')"

# ---- Validated: scaled, and the same bits.
lines '2^16' n=120,50
good='validated with a scale of 2^16: 4 seeds and 8 updates, bit for bit as without
[0]'
equal 'a vector with gaps, backwards, is validated' "$good" "$(validate wide)"
equal 'library calls alone are validated' "$good" "$(validate plain)"
equal 'a program that a script runs is validated, not the shell' "$good" \
    "$("$autocast" policy validate --emulate --policy "$work/policy" -- \
        sh -c "echo; $sgd" 2>&1; echo "[$?]")"
equal 'what learns next to it is named' \
    'validated with a scale of 2^16: 4 seeds and 8 updates, bit for bit as without
note: no line means fn=cublasSaxpy_v2 n=119 caller=linear_sgd, 4 calls, which wrote something else with the scale: right for gradients on their way, wrong for weights
note: no line means fn=cublasSaxpy_v2 n=49 caller=linear_sgd, 4 calls, which wrote something else with the scale: right for gradients on their way, wrong for weights
[0]' "$(say_all apart)"
equal 'one stamp was left' 1 \
    "$(find "$AUTOCAST_STATE" -path '*validated/*' | wc -l)"
equal 'validated: the same weights, bit for bit' "$plain" "$(weights plain)"
equal 'validated: nothing is said' '' "$(cat "$work/said")"
equal 'validated: the report counts what was scaled' \
    'cublasSaxpy_v2: update, scaled by 2^-16: 8; cublasSscal_v2: seed, scaled by 2^16: 4' \
    "$(seen)"
equal 'what differs by its region alone' "$good" "$(lines '2^16' region=update
    validate region)"
equal 'and the weights are the same, bit for bit' "$(bare "$sgd" region)" \
    "$(weights region)"
equal 'of which the calls in the region were scaled' \
    'cublasSaxpy_v2: update, scaled by 2^-16: 8; cublasSscal_v2: seed, scaled by 2^16: 4' \
    "$(seen)"
lines '2^16' n=120,50
equal 'a graph holds the scaled scalar: the same weights' "$plain" \
    "$(weights graph)"
equal 'a scalar on the device is left alone' 'cublasSaxpy_v2: update, scalar on device: 1; cublasSaxpy_v2: update, scaled by 2^-16: 7; cublasSscal_v2: seed, scaled by 2^16: 4' \
    "$(weights device >/dev/null; seen)"
equal 'and the user is told once' 1 \
    "$(grep -c 'the weights are wrong from here on: its scalar is in device memory$' "$work/said")"
check 'without 2^-16 the weights are others: the seeds are scaled' \
    "$([ "$(weights host)" != "$plain" ] || echo "$plain")"
equal 'another place of the same program is as good' "$plain" \
    "$(mkdir "$work/bin" && cp "$sgd" "$work/bin/other" &&
        under "$work/policy" "$work/bin/other" 2>&1)"
cp "$sgd" "$work/bin/changed" && echo >>"$work/bin/changed"
check 'another content is not' \
    "$(under "$work/policy" "$work/bin/changed" 2>&1 |
        grep -q 'nobody has validated' || echo 'nothing was said')"
equal 'autocast compare runs what was validated as such' '1 line differs' \
    "$("$autocast" compare -n 1 --emulate --policy "$work/policy" \
        -- "$sgd" host 2>&1 | grep -o '1 line differs\|nobody')"
lines '2^8' n=120,50
check 'nor are other lines' "$(weights plain >/dev/null
    grep -q 'nobody has validated' "$work/said" || echo 'nothing was said')"

# ---- Momentum by library calls: two sums of one size, which only their place
# tells apart.
lines '2^16' n=7
places=$("$autocast" policy validate --emulate --policy "$work/policy" -- "$sgd" \
    velocity 2>&1 | sed -n 's/.*Saxpy_v2 n=120 caller=\(linear_sgd+[0-9a-f]*\),.*/\1/p')
equal 'validate names two places' 2 "$(echo "$places" | wc -l)"
verdicts=
for place in $places; do
	lines '2^16' "n=120,50 caller=$place"
	verdict=$(validate velocity)
	verdicts="$verdicts ${verdict##*$'\n'}"
	right=$place
done
equal 'either of them may take the scale away' ' [0] [0]' "$verdicts"
lines '2^16' n=120,50
equal 'but not both' '[1]' "$(validate velocity | tail -n 1)"
lines '2^16' "n=120,50 caller=$right"
equal 'with that line the weights are the same, bit for bit' \
    "$(bare "$sgd" velocity)" "$(weights velocity)"
equal 'and they were scaled' \
    'cublasSaxpy_v2: update, scaled by 2^-16: 8; cublasSscal_v2: seed, scaled by 2^16: 4' \
    "$(seen)"
equal 'explain knows places' '[update] [its]' \
    "$(for place in "$right" "${right}0"; do
	"$autocast" explain --policy "$work/policy" cublasSaxpy_v2 n=120 \
	    caller="$place" | sed -n '$s/^\(its\|[a-z]*\):* .*/[\1]/p'
    done | paste -sd' ')"
lines '2^16' n=120,50

# ---- Too large for FP16, as only a run with recasts shows.
lines '2^24' n=120,50 'gemm -> fp16 tactic=library profit=off guard=off'
equal 'a scale that overflows FP16 is refused' \
    'autocast: policy validate: bit for bit as without, but under the whole policy update 1 (cublasSaxpy_v2, n=120, linear_sgd) writes infinities or NaNs: 2^24 is too much for what is recast; take a smaller one
[1]' "$(validate plain)"
lines '2^4' n=120,50 'gemm -> fp16 tactic=library profit=off guard=off'
equal 'a smaller one is not' "${good/2^16/2^4}" "$(validate plain)"
lines '2^16' n=120,50

# ---- In a library, by a program that knows nothing of it
cat >"$work/host.c" <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *library = dlopen("./libsgd.so", RTLD_NOW);
	int (*run)(int, char **) = library ?
	    (int (*)(int, char **))dlsym(library, "run_sgd") : 0;
	return run ? run(argc, argv) : 9;
}
END
mkdir "$work/library" && cd "$work/library" || exit 99
if ${CC:-cc} -w -o host "$work/host.c" -ldl && ${CC:-cc} -w -shared -fPIC \
    -D_GNU_SOURCE -Dmain=run_sgd -I"$root" -I"$root/examples" $CUDA_CPPFLAGS \
    -o libsgd.so "$root/tests/preload/programs/linear_sgd.c" \
    "$emulator/libcublas.so.13" "$emulator/libcudart.so.13" -ldl -lm; then
	host=$work/library/host
	equal 'a library is validated' "$good" "$(sgd=$host validate plain)"
	equal 'what is scaled computes the same' "$plain" \
	    "$(under "$work/policy" "$host" plain 2>"$work/said")"
	equal 'and nothing is said' '' "$(cat "$work/said")"
	echo >>libsgd.so
	check 'another content of it is not validated' \
	    "$(under "$work/policy" "$host" plain 2>&1 |
		grep -q 'nobody has validated' || echo 'nothing was said')"
else
	skip 'a library' 'it does not compile'
fi
cd "$work" || exit 99

# ---- A name with a blank, and a way of running that is not linear.
lines '2^16' n=120,50
cp "$sgd" "$work/bin/linear sgd" && echo >>"$work/bin/linear sgd"
blank="$work/bin/linear sgd"
equal 'a blank in the name hides no update' "$other" \
    "$(sgd=$blank validate decay | sed 's/.*validate: //;s/r sgd/r_sgd/;/^\[/d')"
equal 'nor a right one' "$good" "$(sgd=$blank validate plain)"
equal 'a refusal takes back what was found good before' \
    'autocast: policy validate: this program was validated before with these lines; that counts no longer
[1]' "$(sgd=$blank validate clip | tail -n 2)"
check 'and nothing is scaled any more' \
    "$(under "$work/policy" "$blank" plain 2>&1 |
        grep -q 'nobody has validated' || echo 'nothing was said')"
equal 'a mode without a folder scales nothing' "$plain" \
    "$(AUTOCAST_VALIDATE=scaled: under "$work/policy" "$blank" plain \
        2>/dev/null)"

check 'without a state directory that is what is said' \
    "$(AUTOCAST_STATE=off under "$work/policy" "$sgd" plain 2>&1 |
        grep -q 'without a state directory' || echo 'nothing was said')"

# ---- Next to casts, which scale per operation: nothing more to gain.
fp16='gemm -> fp16 profit=off guard=off'
lines '2^16' n=120,50 "$fp16"
with=$(weights plain)
equal 'the products were cast, too' 20 "$(total totals.recast_calls)"
printf '%s\n' "$fp16" >"$work/policy"
equal 'with casts: the same weights as without the lines' "$(weights plain)" \
    "$with"
plan
