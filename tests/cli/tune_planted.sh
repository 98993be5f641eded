#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tune_planted.sh -- what `tune` finds, and in how many runs: sites that are planted,
# by a seed, in programs of many; checks that lie now and then; commands that are
# ended at any moment. SEEDS=N: so many programs of 300 sites.
. "$(dirname "$0")/transcript.sh"
sensitive=$build/tests/preload/programs/sensitive
need_emulated "$sensitive"
mkdir "$place/tmp"
export TMPDIR=$place/tmp AUTOCAST_NOTICE=off
export AUTOCAST_EMU_CLOCK=model AUTOCAST_EMU_RATES
# slow_down BY: arithmetic. Sizes are an eighth in each direction, so memory is slower
# by 64 and arithmetic by 512 for the times of the full size.
slow_down()
{
	AUTOCAST_EMU_RATES=$(awk -v by="$1" 'BEGIN {
		printf "host=1,memory=%g", 1 / 64
		for (i = split("fp64 fp32 tf32 fp16 bf16", kind); i > 0; i--)
			printf ",%s=%g", kind[i], 1 / by
	}')
}
slow_down 512
# Each rung is measured whatever is predicted of it.
every='set own=0 profit=off'
good='grep -q good stdout'
sizes=(m=64 k=256 n=64 step=1)

# tune ARGUMENTS: the policy goes to `out`, what is said to `err`; its status.
tune()
{
	"$autocast" tune --emulate="${model:-t4}" -e "$every" "$@" >out 2>err </dev/null
	echo $?
}

# runs: how many that took.
runs()
{
	sed -n 's/^autocast: tune: \([0-9]*\) runs: .*/\1/p' err
}

# sites: those that are held back, kept or at a better rung, by number.
sites()
{
	sed -nE 's/^gemm m=64 n=([0-9]*) k=256 -> (keep|fp16x3 .*)$/\1/p' out | sort -n |
	    awk '{ print $1 - 64 }' | xargs
}

# mixed SEED NUMBER: 31 bits, drawn; every awk has other random numbers.
mixed()
{
	local x=$((($1 * 1000003 + $2) * 0x9E3779B1 & 0xFFFFFFFF))

	x=$(((x ^ x >> 15) * 0x85EBCA77 & 0xFFFFFFFF))
	x=$(((x ^ x >> 13) * 0xC2B2AE3D & 0xFFFFFFFF))
	echo $(((x ^ x >> 16) >> 1))
}

# drawn SEED COUNT BELOW: so many numbers, none twice; not the first or last, for
# which sizes may speak in place of a site.
drawn()
{
	local number

	for number in $(seq $((20 * $2))); do
		echo $((1 + $(mixed "$1" "$number") % ($3 - 2)))
	done | awk -v most="$2" '!is[$1]++ && ++count <= most' | sort -n | xargs
}

# ---- No site is sensitive: near what trying every rung at every site would find
wide=("$sensitive" 12 3 1e-5 m=64 k=256 n=4 step=24)
# took POLICY: the microseconds of a call of each site.
took()
{
	AUTOCAST_RULES=$([ "$1" = off ] || echo "$every") "$autocast" run \
	    --emulate="$model" --policy "$1" -- "${wide[@]}" took=1 2>/dev/null |
	    sed -n 's/^site .* took //p'
}
for model in t4 h200; do
	[ $model = t4 ] || slow_down 4096
	for rung in fp16 tf32 fp16x3 bf16x3; do
		took "gemm -> $rung" >$rung
	done
	took off >keep
	# Not the same one everywhere.
	best=$(paste keep fp16 tf32 fp16x3 bf16x3 | awk '{
		least = 1
		for (i = 2; i <= NF; i++)
			if ($i < $least)
				least = i
		sum += $least
		ways += !is[least]++
	    }
	    END { print (NR == 12 && ways > 1) ? sum : "none" }')
	equal "12 sites: found in two runs, on $model" \
	    "$(tune --check "$good" "${wide[@]}"),$(runs)" 0,2
	cp out found.policy
	found=$(took ./found.policy | awk '{ sum += $1 } END { print sum }')
	ok "12 sites: within 5 % of the best, on $model" "$(awk -v found="$found" \
	    -v best="$best" 'BEGIN { print !(found > 0 && found <= 1.05 * best) }')" \
	    "$found, and the best is $best"
done
unset model
slow_down 512

# ---- One site cancels: no rung is accurate enough there
equal 'one cancels: found in two runs' \
    "$(tune --check "$good" "$sensitive" 12 3 1e-5 "${sizes[@]}" cancel=7 7),$(runs)" 0,2
equal 'one cancels: it is kept' "$(sites)" 7

# ---- Sizes that are others in each run: said, and ranks, which have theirs in common
: >others
cat >varies <<END
#!/bin/bash
echo run >>others
exec '$sensitive' 6 2 1e-5 m=64 k=256 step=1 n=\$((\$(wc -l <others) * 3 + 64))
END
cat >ranks <<END
#!/bin/bash
export OMPI_COMM_WORLD_SIZE=2
for rank in 0 1; do
	OMPI_COMM_WORLD_RANK=\$rank '$sensitive' 6 2 1e-5 ${sizes[*]} 3 >rank.\$rank &
done
wait
cat rank.*
END
chmod +x varies ranks
equal 'sizes vary: found' "$(tune --check "$good" ./varies),$(runs)" 0,2
equal 'sizes vary: that is said' "$(grep -o ' recast, 3 not in that run, as sizes differ from run to run;' err)" \
    ' recast, 3 not in that run, as sizes differ from run to run;'
equal 'ranks: found, in one policy' "$(tune --check '! grep -q spoilt stdout' ./ranks),$(sites)" 0,3
equal 'ranks: nothing is not in that run' "$(grep -c 'not in that run' err)" 0

# ---- What no measurement shows: the program makes more of it
# found SITES PLANTED SEED ARGUMENTS: what is wrong with what is found.
found()
{
	local planted
	planted=$(drawn "$3" "$2" "$1")
	[ "$(tune --check "$good" "${@:4}" "$sensitive" "$1" 2 1e-5 "${sizes[@]}" \
	    $planted),$(sites)" = "0,$planted" ] ||
	    echo "seed $3: $(sites), not $planted, $(cat err)"
}

# in_all SITES PLANTED SEEDS RUNS: what is wrong, of so many programs.
in_all()
{
	for seed in $(seq "$3"); do
		found "$1" "$2" "$seed" --runs "$4"
	done
}
equal '64 sites, one is planted: exactly it in 12 runs, 6 of 6' "$(in_all 64 1 6 12)" ''
seeds=${SEEDS:-2}
equal "300 sites, two are planted: exactly they in 27 runs, $seeds of $seeds" \
    "$(in_all 300 2 "$seeds" 27)" ''

# ---- A check that is wrong in 5 % of its answers
{
	echo '#!/bin/bash'
	declare -f mixed
	cat <<'END'
# lies SEED FILE: FILE counts.
read -r asked <"$2"
echo $((asked + 1)) >"$2"
grep -q good stdout
[ $? = $(($(mixed "$1" "$asked") % 20 == 0)) ]
END
} >lies
# answers FILE ANSWER...: one after another; FILE counts.
cat >answers <<'END'
#!/bin/bash
read -r asked <"$1"
echo $((asked + 1)) >"$1"
shift $((asked % ($# - 1) + 1))
exit "$1"
END
chmod +x lies answers
lied='the check does not answer the same twice about the same output: nothing can be found with it'

# tuned SEED: "right", "named", or what is wrong. Of 12 sites one is planted.
tuned()
{
	local planted status
	planted=$(drawn "$1" 1 12)
	echo 0 >"$place/asked"
	status=$(tune --check "./lies $1 $place/asked" "$sensitive" 12 2 1e-5 \
	    "${sizes[@]}" "$planted")
	case $status,$(cat err) in
	0,*) case " $(sites) " in
		*" $planted "*) echo right ;;
		*) echo "seed $1: $(sites) without $planted" ;;
		esac ;;
	3,*"$lied" | 3,*'verdicts contradict'*) echo named ;;
	*) echo "seed $1: status $status, $(cat err)" ;;
	esac
}
for seed in $(seq 20); do
	tuned "$seed"
done >tuned
equal 'a check that lies in 5 %: named, or right, 20 of 20' "$(grep -vxE 'right|named' tuned)" ''
equal '... and either happens' "$(sort -u tuned | xargs)" 'named right'
# The answers about the plain run, and about the one behind it.
for row in '0 1' '1 0' '0 0 0 1' '0 0 0 125'; do
	echo 0 >"$place/asked"
	equal "one that answers $row" "$(tune --check "./answers $place/asked $row" \
	    "$sensitive" 3 2 1e-5 "${sizes[@]}"),$(cat err)" "3,autocast: tune: $lied"
done
echo 0 >"$place/asked"
equal 'bisect: too' "$("$autocast" bisect --emulate=t4 --policy fp16 --check \
    "./answers $place/asked 0 1" "$sensitive" 3 2 1e-5 "${sizes[@]}" 2>&1; echo "[$?]")" \
    "autocast: bisect: $lied
[3]"
equal 'what it judges is there again as it was' "$(tune --check "$good && : >stdout && rm stderr" \
    "$sensitive" 3 2 1e-5 "${sizes[@]}"),$(runs)" 0,2

# ---- Ended at any moment
counted=$place/counted
cat >counts <<END
#!/bin/bash
echo run >>'$counted'
exec '$sensitive' 12 2 1e-5 ${sizes[*]} 7
END
cat >loss <<END
#!/bin/bash
echo run >>'$counted'
[ \$('$sensitive' 12 2 1e-5 ${sizes[*]} 7) = good ] && echo 'loss 0.50' || echo 'loss 0.55'
echo "took \$(wc -l <'$counted') ns"
END
chmod +x counts loss

# killed RUN ARGUMENTS: a command, once that run has begun, and a bit.
killed()
{
	: >"$counted"
	"$autocast" tune --emulate=t4 -e "$every" "${@:2}" >/dev/null 2>&1 </dev/null &
	for _ in $(seq 3000); do
		[ "$(wc -l <"$counted")" -lt "$1" ] || break
		sleep 0.01
	done
	sleep "0.0$((RANDOM % 10))"
	kill -KILL $! 2>/dev/null
	wait $! 2>/dev/null
	sleep 0.3 # what it ran may go on
}
: >"$counted"
equal 'a command that is not ended' "$(tune --check "$good" ./counts),$(sites)" 0,7
rules=$(grep -v '^#' out)
whole=$(wc -l <"$counted")
RANDOM=${SEED:-7}
for moment in $(seq 10); do
	at=$((RANDOM % whole + 1))
	killed $at --check "$good" ./counts
	equal "killed in run $at ($moment): the same policy" \
	    "$(tune --check "$good" ./counts),$(grep -v '^#' out)" "0,$rules"
done
# Numbers, of which one differs anyway: for a plain run more, made once.
: >"$counted"
equal 'by numbers' "$(tune --within 1% ./loss),$(sites)" 0,7
whole=$(wc -l <"$counted")
equal '... for a plain run more' "$whole" $(($(runs) + 1))
killed 6 --within 1% ./loss
equal '... killed: the same' "$(tune --within 1% ./loss),$(sites)" 0,7
ok '... and it is made once' "$([ "$(wc -l <"$counted")" -le $((whole + 1)) ]; echo $?)" \
    "$(wc -l <"$counted") runs, instead of $whole and the one that was killed"
rm -rf "$TMPDIR"/autocast-tune-* "$AUTOCAST_STATE/tune"

# ---- What nobody went on with
folder=$AUTOCAST_STATE/tune
for name in 0123456789abcdef 0123456789abcde0 0123456789abcde1 0123456789abcde2 mine; do
	mkdir -p "$folder/$name"
	echo x >"$folder/$name/journal"
	touch -d '31 days ago' "$folder/$name/journal"
done
touch -d '29 days ago' "$folder/0123456789abcde0/journal"
echo mine >"$folder/0123456789abcde1/mine"
exec 9<"$folder/0123456789abcde2/journal"
what='what is a month old is forgotten, but what is of others, or runs'
if flock -n 9 2>/dev/null; then
	equal "$what" "$(tune --check "$good" "$sensitive" 3 2 1e-5 "${sizes[@]}"),$(cd "$folder" &&
	    find . -type f | sort | xargs)" \
	    '0,./0123456789abcde0/journal ./0123456789abcde1/mine ./0123456789abcde2/journal ./mine/journal'
else
	skip "$what" 'no flock'
fi
exec 9<&-

# ---- A frozen policy: the same bits each time, from the first call on
rm -rf "$AUTOCAST_STATE"
frozen=("$sensitive" 3 6 0 "${sizes[@]}" 0 1 2)
"$autocast" run --emulate=t4 --policy 'gemm -> fp16 profit=off' -- "${frozen[@]}" >/dev/null 2>&1
"$autocast" policy freeze -o frozen.policy
for seed in $(seq 100); do
	AUTOCAST_EMU_JITTER=$seed "$autocast" run --emulate=t4 --policy ./frozen.policy -- \
	    "${frozen[@]}" 2>/dev/null
done | sort | uniq -c >bits
equal 'frozen: a hundred runs, the same bits' "$(sed -E 's/^ *([0-9]+) bits [0-9a-f]{16}$/\1/' bits)" 100
equal 'frozen: from the first call' "$("$autocast" report --json |
    grep -o '"recast_calls": [0-9]*' | head -n 1)" '"recast_calls": 18'
plan
