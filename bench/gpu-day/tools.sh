# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# tools.sh -- sourced by steps.sh: calibration, and NVIDIA's profiler and
# sanitizer.

# The rates of this GPU, kept in a file that comes back; none of our runs reads it.
calibrate()
{
	set -- calibrate
	[ -z "$DAY_EMULATED" ] || set -- calibrate --dry-run
	AUTOCAST_STATE=$DAY_KEPT/calibration LD_LIBRARY_PATH=$DAY_LIBRARIES \
	    "$DAY_BUILD/autocast" "$@" >"$DAY_KEPT/calibration/said" 2>&1
	status=$?
	cat "$DAY_KEPT/calibration/said" >&2
	sed -n 's/^\([a-z0-9-]*\)  *\([0-9.e+-]*\) \([A-Za-z/]*\)  *+- \(.*\)$/\1|\2|\3|\4/p' \
	    "$DAY_KEPT/calibration/said" | while IFS='|' read -r what rate unit note
	do
		value "calibrated $what" "$rate" "$unit" "+- $(echo $note)"
	done
	return $status
}

# tool NAME: where one of CUDA's tools is.
tool()
{
	for place in $(command -v "$1") /usr/local/cuda/bin/"$1" \
	    /opt/nvidia/nsight-compute/*/"$1"; do
		[ ! -x "$place" ] || {
			echo "$place"
			return
		}
	done
	value "$1" 'not measured' '' 'not installed'
	return 1
}

# The cast's counters: of one launch of each of our kernels, after the first ones.
counters()
{
	place=$(tool ncu) || {
		echo "$place"
		return
	}
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$DAY_LIBRARIES "$place" --clock-control none \
	    -k regex:ac_verified -s 6 -c 6 --section SpeedOfLight \
	    --section MemoryWorkloadAnalysis --section LaunchStats \
	    --section Occupancy --csv "$DAY_PROGRAMS/kernels" $DAY_QUICK cast \
	    >"$DAY_KEPT/reports/ncu.csv"
	status=$?
	# "ID",..,"Kernel Name",..,"Section Name","Metric Name","Unit","Value"
	awk -F '","' '$1 == "\"ID" {
		for (i = 1; i <= NF; i++) {
			gsub(/"/, "", $i)
			at[$i] = i
		}
		next
	}
	at["Metric Value"] && NF >= at["Metric Value"] {
		name = $at["Kernel Name"]; sub(/\(.*/, "", name)
		v = $at["Metric Value"]; gsub(/[",]/, "", v)
		key = name ": " $at["Metric Name"]
		if (!seen[key]++)
			print "row=value\tname=" key "\tvalue=" v "\tunit=" \
			    $at["Metric Unit"] "\tnote=" $at["Section Name"]
	}' "$DAY_KEPT/reports/ncu.csv"
	[ $status = 0 ] || value ncu 'not measured' '' "$(tail -n 1 \
	    "$DAY_KEPT/reports/ncu.csv")"
	return $status
}

# verdict WHAT STATUS: of what the tool said. It has summed up if it saw anything;
# findings in kernels of cuBLAS alone are not ours.
verdict()
{
	last=$(grep '^=========' "$DAY_WORK/said" | tail -n 1)
	last=${last#========= }
	case $2,$last in
	0,*'SUMMARY: 0 '*) say pass "$1: $last" ;;
	9,*)
		if grep '^=========.* ac_[a-z]' "$DAY_WORK/said" |
		    grep -qv 'Host Frame'; then
			say FAIL "$1: $last"
			worst=1
		else
			say skip "$1: in no kernel of ours: $last"
		fi ;;
	*) say skip "$1: exit status $2: $last" ;;
	esac
}

# sanitized TOOL: our kernels by themselves, and products of a client.
sanitized()
{
	name=$1
	place=$(tool compute-sanitizer) || {
		echo "$place"
		return
	}
	LD_LIBRARY_PATH=$DAY_LIBRARIES
	export LD_LIBRARY_PATH
	worst=0
	for what in kernels client; do
		set -- "$place" --tool "$name" --error-exitcode 9 \
		    --target-processes all
		case $what in
		kernels) set -- "$@" "$DAY_PROGRAMS/verified_gpu" -q ;;
		# The tool is preloaded, too: ours comes before it.
		client) set -- "$@" sh -c 'LD_PRELOAD=$0${LD_PRELOAD:+:$LD_PRELOAD} \
			    AUTOCAST_POLICY=fp16 AUTOCAST_STATE=off exec "$@"' \
			"$DAY_BUILD/libautocast.so" "$DAY_CLIENTS/gemm_client" \
			sgemm n t 96 64 128 0 0 0 1 1 0 normal 1 - repeat=3 ;;
		esac
		timeout --foreground -k 2 $((budget / 2)) "$@" >"$DAY_WORK/said" 2>&1
		status=$?
		head -c 20000 "$DAY_WORK/said" >&2
		verdict "$what" "$status"
	done
	return $worst
}
