# SPDX-License-Identifier: Apache-2.0
# derive.awk -- what follows from several rows: answers (R rows of questions)
# and the goals (G rows). The best rounds of a sweep; a table of them (P rows). What passed, counted, and what did not (T rows); what others published,
# with ours next to it (V rows).

function field(name,    i) {
	for (i = 4; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return ""
}

# The median of a list of numbers with spaces between.
function median(list,    n, v, i, j, t) {
	n = split(list, v, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
			t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
		}
	if (n % 2)
		return v[(n + 1) / 2] + 0
	return n ? (v[n / 2] + v[n / 2 + 1]) / 2 : 0
}

# The least of a list of numbers, 0 if there is none. Of the rounds' medians it is
# the fair one: a machine that others use, too, makes whole rounds slower (a small
# product's host time by half, for seconds), and none faster.
function least(list,    n, v, i, low) {
	n = split(list, v, " ")
	low = v[1]
	for (i = 2; i <= n; i++)
		if (v[i] + 0 < low + 0)
			low = v[i]
	return n ? low + 0 : 0
}

# Seconds of a case in the sweep, or in the first section; 0 if it was not
# measured.
function swept(name, way) {
	return least(seconds["sweep", name, way] != "" ? \
	    seconds["sweep", name, way] : seconds["product", name, way])
}

function ratio(a, b) {
	return a > 0 && b > 0 ? a / b : 0
}

# answer ID PART VALUE UNIT VERDICT NOTE
function answer(id, part, value, unit, verdict, note) {
	printf "R\tquestions\tderived\trow=item\tid=%s\tpart=%s\tvalue=%.6g\tunit=%s\tverdict=%s\tnote=%s\n",
	    id, part, value, unit, verdict, note
}

# goal NAME WANTED VALUE AT_MOST NOTE; a value of 0: not measured.
function goal(name, wanted, value, at_most, note,    reached) {
	if (value == 0)
		reached = "not measured"
	else if (emulated)
		reached = "emulated"
	else if (at_most)
		reached = value <= wanted ? "yes" : "no"
	else
		reached = value >= wanted ? "yes" : "no"
	printf "G\tgoal=%s\twanted=%s %s\tvalue=%s\treached=%s\tnote=%s\n",
	    name, at_most ? "<=" : ">=", wanted,
	    value == 0 ? "" : sprintf("%.4g", value), reached, note
}

$1 == "R" && field("row") == "time" {
	name = field("case"); way = field("way")
	key = ($2 == "sweep" ? "sweep" : $3)
	seconds[key, name, way] = seconds[key, name, way] " " field("median")
	if (!((key, name) in known)) {
		known[key, name] = 1
		names[++count] = key SUBSEP name
	}
	if (field("error") != "")
		error[key, name, way] = field("error")
	flop[name] = 2e-12 * field("m") * field("n") * field("k") * field("batch")
	size[name] = field("m") + 0
}
$1 == "R" && field("row") == "cast" {
	share[field("case")] = field("share")
}
$1 == "R" && field("what") == "copy" { copy = field("bytes_per_second") }
$1 == "R" && field("row") == "test" {
	name = field("test")
	if (!(name in passed)) {
		passed[name] = 0
		tests[++tested] = name
	}
	if (field("result") == "pass")
		passed[name]++
	else
		failed[name] = failed[name] "T\t" name "\t" field("result") \
		    "\t" field("case") "\n"
}
$1 == "U" { published[++rivals] = $0 }
$1 == "R" && field("row") == "recast" { recast[$2, field("way")] = field("share") }
$1 == "R" && field("row") == "host" {
	key = field("case") SUBSEP field("way")
	host[key] = host[key] " " field("median")
	hosts[field("case")] = 1
}

# n3: rates. n6: FAST_16x next to the cast.
function rates(    i, part, w, ways, n, t) {
	n = split("native tf32 pure16", ways, " ")
	for (i = 1; i <= count; i++) {
		split(names[i], part, SUBSEP)
		if (part[1] != "rates")
			continue
		for (w = 1; w <= n; w++) {
			t = median(seconds["rates", part[2], ways[w]])
			if (t > 0)
				answer("n3", "N=" part[2] " " ways[w],
				    flop[part[2]] / t, "TFLOP/s", "-", t " s")
		}
	}
}

function fast(    i, part, w, ways, n, t, ours, r) {
	n = split("fast16f fast16bf tf32 pure16", ways, " ")
	for (i = 1; i <= count; i++) {
		split(names[i], part, SUBSEP)
		if (part[1] != "fast16")
			continue
		ours = median(seconds["fast16", part[2], "ours-fp16"])
		for (w = 1; w <= n; w++) {
			t = median(seconds["fast16", part[2], ways[w]])
			r = ratio(t, ours)
			if (r)
				answer("n6", "N=" part[2] " " ways[w], r,
				    "of the cast's time", r < 0.97 ? "faster" : \
				    r > 1.03 ? "slower" : "the same",
				    "error " error["fast16", part[2], ways[w]] \
				    ", ours " error["fast16", part[2], "ours-fp16"])
		}
	}
}

# a3: beyond the largest size at which the cast is not faster.
function crossover(against, label,    i, part, first, last, n, ours, other) {
	first = last = 0
	for (i = 1; i <= count; i++) {
		split(names[i], part, SUBSEP)
		if (part[1] != "crossover")
			continue
		ours = median(seconds["crossover", part[2], "ours-fp16"])
		other = median(seconds["crossover", part[2], against])
		if (!(ours > 0 && other > 0))
			continue
		n++
		if (ours >= other && size[part[2]] > last)
			last = size[part[2]]
	}
	for (i = 1; i <= count; i++) {
		split(names[i], part, SUBSEP)
		if (part[1] == "crossover" && size[part[2]] > last &&
		    (!first || size[part[2]] < first))
			first = size[part[2]]
	}
	if (n)
		answer("a3", "cast and FP16 over " label, first + 0, "N",
		    first ? "from N=" first : "never", "of the sizes tried")
}

# The worst of ours under `way`, over all cases: its ratio, its name in `worst`.
function worst_of(way,    i, part, r, low) {
	low = 0
	for (i = 1; i <= count; i++) {
		split(names[i], part, SUBSEP)
		if (part[1] != "sweep")
			continue
		r = ratio(swept(part[2], "native"), swept(part[2], way))
		if (r && (!low || r < low)) {
			low = r
			worst = part[2]
		}
	}
	return low
}

# What the recast call of N x N may take on this GPU: the product alone, and both
# casts at 0.85 of the copy's speed, as measured here.
function allowed(n,    pure) {
	pure = swept(n, "pure16")
	return pure && copy ? pure + 12 * n * n / (0.85 * copy) : 0
}

function goals(    low) {
	goal("N=8192, fp16, of pure FP16 and casts at 0.85 of a copy's speed",
	    1.03, ratio(swept("8192", "ours-fp16"), allowed(8192)), 1,
	    "recast share " recast["sweep", "ours-fp16"])
	goal("N=4096, fp16, of pure FP16 and casts at 0.85 of a copy's speed",
	    1.1, ratio(swept("4096", "ours-fp16"), allowed(4096)), 1)
	goal("N=8192, fp16 over SGEMM", 10,
	    ratio(swept("8192", "native"), swept("8192", "ours-fp16")), 0)
	goal("N=4096, fp16 over SGEMM", 9,
	    ratio(swept("4096", "native"), swept("4096", "ours-fp16")), 0)
	goal("N=8192, bf16x3 over SGEMM", 4,
	    ratio(swept("8192", "native"), swept("8192", "ours-bf16x3")), 0)
	goal("N=2048, bf16x3 over SGEMM", 3.2,
	    ratio(swept("2048", "native"), swept("2048", "ours-bf16x3")), 0)
	goal("N=8192, fp16x3, TFLOP/s", 200, tflops(8192, "ours-fp16x3"), 0)
	goal("N=16384, fp16x3, TFLOP/s", 210, tflops(16384, "ours-fp16x3"), 0)
	goal("N=8192, fp16x2, TFLOP/s", 290, tflops(8192, "ours-fp16x2"), 0)
	goal("N=16384, fp16x2, TFLOP/s", 300, tflops(16384, "ours-fp16x2"), 0)
	low = worst_of("ours-amp")
	goal("least of all cases, amp over native", 0.98, low, 0,
	    low ? "worst: " worst : "")
	goal("cast with statistics, 8192 x 8192 twice, of the copy's speed", 0.85,
	    share[8192] + 0, 0)
}

function overheads(    c, native, w, ways, n, t) {
	n = split("ours-off ours-keep", ways, " ")
	for (c in hosts) {
		native = least(host[c, "native"])
		for (w = 1; w <= n; w++) {
			t = least(host[c, ways[w]])
			if (native > 0 && t > 0)
				goal("N=" c " loop, " ways[w] ", of native's time",
				    1.01, t / native, 1,
				    sprintf("%.3g s more per call", t - native))
		}
	}
}

# The sweep as a table: a row per case, a column per way, ours by native.
function pivot(    i, part, w, ways, n, line, low) {
	n = split("native tf32 override fast16f pure16 ours-amp ours-fp16 ours-tf32 ours-fp16x2 ours-fp16x3 ours-bf16x3 ours-bf16x6", ways, " ")
	for (i = 1; i <= count; i++) {
		split(names[i], part, SUBSEP)
		if (part[1] != "sweep")
			continue
		line = "P\t" part[2]
		for (w = 1; w <= n; w++) {
			low = swept(part[2], ways[w])
			line = line "\t" (low > 0 ? sprintf("%.4g", low) : "")
		}
		low = ratio(swept(part[2], "native"), swept(part[2], "ours-amp"))
		print line "\t" (low ? sprintf("%.3f", low) : "")
	}
}

function tested_rows(    i) {
	for (i = 1; i <= tested; i++) {
		if (passed[tests[i]])
			print "T\t" tests[i] "\tpass\t" passed[tests[i]] " cases"
		printf "%s", failed[tests[i]]
	}
}

function tflops(n, way,    t) {
	t = swept(n, way)
	return t ? 2e-12 * n ^ 3 / t : 0
}

# Ours in TFLOP/s, and its error.
function compare(    i, f, t) {
	for (i = 1; i <= rivals; i++) {
		split(published[i], f, "\t")
		t = tflops(f[4], f[7])
		print "V\t" f[2] "\t" f[3] "\t" f[4] "\t" f[5] "\t" f[6] "\t" \
		    f[7] "\t" (t ? sprintf("%.4g", t) : "") \
		    "\t" error["sweep", f[4], f[7]] "\t" f[8]
	}
}

END {
	tested_rows()
	compare()
	pivot()
	rates()
	fast()
	crossover("tf32", "TF32")
	crossover("native", "FP32")
	goals()
	overheads()
}
