# SPDX-License-Identifier: Apache-2.0
# conv_csv.awk -- from the collected lines, the convolutions as a table: a line
# per layer, operation and layout. A time is the best round's median (derive.awk's
# least() has the reason), a spread is from the lowest quartile of any round to the
# highest, by that.
# `emulated`: as `run` had it. Prints nothing if there are none.
#
# Of each way: WAY (seconds of a call, `none` if cuDNN does not offer it),
# WAY_spread, WAY_error (relative, against FP64); of ours also WAY_rung, what the
# library made of most calls, or of the plan.

function field(name,    i) {
	for (i = 4; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return ""
}

$1 == "M" {
	for (i = 2; i <= NF; i++)
		if ($i ~ /^gpu=/)
			gpu = substr($i, 5)
}
$1 == "R" && field("row") == "layers" { layers = field("count") }
$1 == "R" && field("row") == "conv" {
	way = field("way")
	sub(/^ours-/, "", way)
	key = field("case") "," field("op") "," field("layout")
	if (!(key in shape)) {
		shape[key] = field("shape")
		times[key] = field("times")
		keys[++count] = key
	}
	cell = key SUBSEP way
	if (field("median") == "") {
		none[cell] = 1
		next
	}
	if (!(cell in seconds) || field("median") + 0 < seconds[cell])
		seconds[cell] = field("median") + 0
	if (!(cell in low) || field("low") + 0 < low[cell])
		low[cell] = field("low") + 0
	if (field("high") + 0 > high[cell])
		high[cell] = field("high") + 0
	if (field("error") != "")
		error[cell] = field("error")
}
$1 == "R" && field("row") == "site" {
	way = field("way")
	sub(/^ours-/, "", way)
	if (field("symbol") ~ /^cudnnBackend/)
		way = "graph-" way
	cell = way SUBSEP substr(field("operation"), 6) SUBSEP field("shape")
	if (field("calls") + 0 > most[cell]) {
		most[cell] = field("calls") + 0
		rung[cell] = field("recast_calls") + 0 ? field("rung") : "keep"
	}
}

function ours(way) {
	return way ~ /^(down|graph-down|fp16|amp)$/
}

function cells(key, way,    cell, m) {
	cell = key SUBSEP way
	if (cell in seconds) {
		m = seconds[cell]
		return sprintf(",%.6g,%.4f,%s", m, m > 0 ? \
		    (high[cell] - low[cell]) / m : 0, error[cell])
	}
	return cell in none ? ",none,none,none" : ",,,"
}

END {
	if (!count)
		exit
	n = split("default fma conversion graph down graph-down fp16 amp", ways, " ")
	print "# gpu " gpu
	print "# layers " layers
	if (emulated)
		print "# emulated: not a measurement"
	line = "layer,op,layout,shape,times"
	for (w = 1; w <= n; w++)
		line = line "," ways[w] "," ways[w] "_spread," ways[w] "_error" \
		    (ours(ways[w]) ? "," ways[w] "_rung" : "")
	print line
	for (i = 1; i <= count; i++) {
		split(keys[i], part, ",")
		line = keys[i] "," shape[keys[i]] "," times[keys[i]]
		for (w = 1; w <= n; w++) {
			line = line cells(keys[i], ways[w])
			if (ours(ways[w]))
				line = line "," rung[ways[w], part[2], \
				    shape[keys[i]]]
		}
		print line
	}
}
