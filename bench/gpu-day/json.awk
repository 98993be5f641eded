# SPDX-License-Identifier: Apache-2.0
# json.awk -- the collected lines as JSON. `emulated`, `quick`: as `run` had it.

function quoted(s) {
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	gsub(/[\001-\037\177-\377]/, " ", s)
	return "\"" s "\""
}

function value(s) {
	if (s ~ /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/)
		return s
	return quoted(s)
}

# The KEY=VALUE fields from number `from` on.
function fields(from,    i, at, text) {
	for (i = from; i <= NF; i++) {
		at = index($i, "=")
		if (at)
			text = text (text == "" ? "" : ", ") \
			    quoted(substr($i, 1, at - 1)) ": " \
			    value(substr($i, at + 1))
	}
	return text
}

function field(name,    i) {
	for (i = 4; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return ""
}

# The same four fields of every row; the row's own follow them.
function named(name, v, unit) {
	return "\"section\": " quoted($2) ", \"step\": " quoted($3) \
	    ", \"name\": " quoted(name) ", \"value\": " value(v) \
	    ", \"unit\": " quoted(unit) ", \"state\": " \
	    quoted(step_state[$2, $3] == "" ? "derived" : step_state[$2, $3])
}

function common(    kind) {
	kind = substr($4, 5)
	if (kind == "time")
		return named(field("case") " " field("way"), field("median"), "s")
	if (kind == "host")
		return named("host N=" field("case") " " field("way"),
		    field("median"), "s")
	if (kind == "test")
		return named(field("test") ": " field("case"), field("result"), "")
	if (kind == "item")
		return named(field("id") " " field("part"),
		    field("value") == "" ? field("verdict") : field("value"),
		    field("unit"))
	if (kind == "value")
		return named(field("name"), field("value"), field("unit"))
	if (kind == "cast")
		return named("cast N=" field("case"), field("cast"), "s")
	if (kind == "check")
		return named("check N=" field("case"), field("share"),
		    "of the product's time")
	if (kind == "recast")
		return named("recast " field("way"), field("share"), "of the calls")
	if (kind == "rate")
		return named(field("what"), field("bytes_per_second"), "B/s")
	if (kind == "left_out")
		return named(field("case") " " field("way"), "left out", "")
	if (kind == "site")
		return named("site " field("way") " " field("shape"),
		    field("rung"), "")
	if (kind == "library")
		return named(field("name"), field("version"), "")
	return named(kind, "", "")
}

# What is left of a row's fields, without those that named() has.
function own(    i, at, key, text) {
	for (i = 4; i <= NF; i++) {
		at = index($i, "=")
		key = substr($i, 1, at - 1)
		if (at && !(substr($4, 5) ~ /^(value|item|library)$/ &&
		    key ~ /^(name|value|unit)$/))
			text = text ", " quoted(key) ": " \
			    value(substr($i, at + 1))
	}
	return text
}

# Cells with these names, from field 2 on.
function record(names,    n, i, key, text) {
	n = split(names, key, " ")
	for (i = 1; i <= n; i++)
		text = text (i > 1 ? ", " : "") quoted(key[i]) ": " value($(i + 1))
	return stamped(text)
}

function stamped(text) {
	return "{" text (emulated ? ", \"emulated\": true" : "") "}"
}

function add(list, text) {
	return list (list == "" ? "" : ",\n") "    " text
}

$1 == "M" { machine = fields(2) }
$1 == "S" {
	states = add(states, "{\"section\": " quoted($2) ", \"step\": " \
	    quoted($3) ", \"state\": " quoted($4) ", \"seconds\": " $5 \
	    ", \"limit\": " $6 "}")
	state[$3] = state[$3] == "" || $4 != "done" ? $4 : state[$3]
	step_state[$2, $3] = $4
}
$1 == "Q" {
	ids[++questions] = $2
	step[$2] = $3
	text[$2] = $4
	rule[$2] = $5
}
$1 == "R" {
	if ($4 == "row=item" && substr($5, 1, 3) == "id=") {
		id = substr($5, 4)
		answers[id] = answers[id] (answers[id] == "" ? "" : ", ") \
		    stamped(fields(6))
	}
	rows = add(rows, stamped(common() own()))
}
$1 == "R" && $4 == "row=stop" { stopped = field("reason") }
$1 == "T" { tests = add(tests, record("test result case")) }
$1 == "P" {
	sweep = add(sweep, record("case native tf32 override fast16f pure16 ours-amp ours-fp16 ours-tf32 ours-fp16x2 ours-fp16x3 ours-bf16x3 ours-bf16x6 ratio"))
}
$1 == "V" {
	published = add(published, record("what gpu n tflops error against ours_tflops ours_error source"))
}
$1 == "C" {
	if (columns == "") {
		for (i = 2; i <= NF; i++)
			columns = columns (i > 2 ? " " : "") $i
		next
	}
	convolutions = add(convolutions, record(columns))
}
$1 == "G" { goals = add(goals, stamped(fields(2))) }

function unanswered(id,    names, n, i, why) {
	n = split(step[id], names, " ")
	for (i = 1; i <= n; i++)
		why = why (i > 1 ? ", " : "") names[i] ": " \
		    (state[names[i]] == "" ? "not-run" : state[names[i]])
	return "{\"verdict\": \"not measured\", \"note\": " quoted(why) "}"
}

END {
	print "{"
	print "  \"format\": \"gpu-day 2\","
	if (stopped != "")
		print "  \"stopped\": " quoted(stopped) ","
	if (emulated)
		print "  \"note\": \"emulated: not a measurement\","
	print "  \"emulated\": " (emulated ? "true" : "false") ","
	print "  \"quick\": " (quick ? "true" : "false") ","
	print "  \"machine\": {" machine "},"
	print "  \"steps\": [\n" states "\n  ],"
	print "  \"goals\": [\n" goals "\n  ],"
	print "  \"questions\": ["
	for (i = 1; i <= questions; i++) {
		id = ids[i]
		print "    {\"id\": " quoted(id) ", \"question\": " \
		    quoted(text[id]) ", \"rule\": " quoted(rule[id]) \
		    ",\n     \"answers\": [" (answers[id] == "" ? \
		    unanswered(id) : answers[id]) "]}" \
		    (i < questions ? "," : "")
	}
	print "  ],"
	print "  \"tests\": [\n" tests "\n  ],"
	print "  \"sweep\": [\n" sweep "\n  ],"
	print "  \"convolutions\": [\n" convolutions "\n  ],"
	print "  \"published\": [\n" published "\n  ],"
	print "  \"rows\": [\n" rows "\n  ]"
	print "}"
}
