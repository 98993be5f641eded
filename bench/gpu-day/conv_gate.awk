# SPDX-License-Identifier: Apache-2.0
# conv_gate.awk -- whether the table of conv_csv.awk passes:
#   awk -F, -f conv_gate.awk results/conv.csv
# Every layer has all operations in both layouts, every way that cuDNN offers a
# time and a finite error; no layer under `amp` is below 0.98 of its default, or
# less accurate than both amp's tolerance and twice the default. Exit status: 0,
# 1 (below), 2 (incomplete). Emulated times are not judged.
# With -v rows=1: the goal (G) and the answers to question c4 (R) instead.

BEGIN {
	ways = split("default fma conversion graph down graph-down fp16 amp", way, " ")
	operations = split("fprop dgrad wgrad", operation, " ")
	layouts = split("nchw nhwc", layout, " ")
	wanted = 0.98
	tolerance = 1e-3
}

function number(s) {
	return s ~ /^[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$/
}

function lacks(what) {
	incomplete++
	if (!rows)
		print "incomplete: " what
}

function cell(name) {
	return name in column ? $column[name] : ""
}

function judge(here,    ratio, w, v) {
	# cuDNN may have no such convolution.
	if (cell("default") == "none" && cell("amp") == "none") {
		refused++
		return
	}
	for (w = 1; w <= ways; w++) {
		v = cell(way[w])
		if (v == "none" && way[w] != "default" && way[w] != "amp")
			continue
		if (!number(v) || !(v + 0 > 0) || !number(cell(way[w] "_spread")))
			lacks(here ": no time of " way[w])
		else if (!number(cell(way[w] "_error")))
			lacks(here ": no finite error of " way[w])
	}
	if (!(cell("default") + 0 > 0 && cell("amp") + 0 > 0))
		return
	ratio = cell("default") / cell("amp")
	if (!least || ratio < least) {
		least = ratio
		worst = here
	}
	if (!emulated && ratio < wanted) {
		below++
		if (!rows)
			printf "below: %s: %.3f of its default under amp (%s)\n",
			    here, ratio, cell("amp_rung")
	}
	if (cell("amp_error") + 0 > tolerance &&
	    cell("amp_error") + 0 > 2 * cell("default_error")) {
		below++
		if (!rows)
			print "inaccurate: " here ": error " cell("amp_error") \
			    ", the default's " cell("default_error")
	}
}

# What the down-convert engines give, for c4: by each interface on its own.
function weigh(group, from, to,    a, b) {
	a = cell(from)
	b = cell(to)
	if (!number(a) || !number(b))
		return
	native[group] += cell("times") * a
	down[group] += cell("times") * b
	compared[group]++
	faster[group] += b < wanted * a
}

/^# layers / { layers = substr($0, 10) + 0 }
/^# emulated/ { emulated = 1 }
/^#/ || $0 == "" { next }
!header {
	header = 1
	for (i = 1; i <= NF; i++)
		column[$i] = i
	next
}
{
	here = cell("layer") " " cell("op") " " cell("layout")
	if (seen[here]++)
		lacks(here ": twice")
	if (!(cell("layer") in known))
		names[++known_count] = cell("layer")
	known[cell("layer")] = 1
	judge(here)
	here = cell("op") " " cell("layout")
	rungs[here, cell("amp_rung")]++
	weigh(here, "default", "down")
	weigh(here ", graph", "graph", "graph-down")
}

function answer(group, note,    ratio, verdict) {
	if (!(down[group] > 0))
		return
	ratio = native[group] / down[group]
	verdict = ratio > 1 / wanted ? "down-convert is faster" : \
	    ratio < wanted ? "the default is faster" : "the same"
	printf "R\tconv\tderived\trow=item\tid=c4\tpart=%s\tvalue=%.4g\tunit=of the default's speed\tverdict=%s\tnote=%d of %d layers faster%s\n",
	    group, ratio, verdict, faster[group], compared[group], note
}

function answers(    o, l, group) {
	for (o = 1; o <= operations; o++)
		for (l = 1; l <= layouts; l++) {
			group = operation[o] " " layout[l]
			answer(group, sprintf("; under amp %d fp16, %d tf32, %d kept",
			    rungs[group, "fp16"], rungs[group, "tf32"],
			    rungs[group, "keep"]))
			answer(group ", graph", "")
		}
}

END {
	for (i = 1; i <= known_count; i++)
		for (o = 1; o <= operations; o++)
			for (l = 1; l <= layouts; l++) {
				here = names[i] " " operation[o] " " layout[l]
				if (!seen[here])
					lacks(here ": no line")
			}
	if (!layers || known_count != layers)
		lacks("layers: " known_count + 0 " of " layers + 0)
	if (rows) {
		printf "G\tgoal=least of all convolutions, amp over the default\twanted=>= %s\tvalue=%s\treached=%s\tnote=%s\n",
		    wanted, least ? sprintf("%.4g", least) : "",
		    !header ? "not measured" : emulated ? "emulated" : \
		    incomplete ? "incomplete" : below ? "no" : "yes",
		    worst == "" ? "run conv" : "worst: " worst
		answers()
		exit 0
	}
	if (refused)
		print "not offered by cuDNN: " refused
	printf "convolutions: %d layers, %s\n", known_count, \
	    incomplete ? "incomplete" : emulated ? \
	    "complete; emulated, so that times are not judged" : below ? \
	    below " below" : \
	    sprintf("none below %s, the least %.3f", wanted, least)
	exit incomplete ? 2 : below ? 1 : 0
}
