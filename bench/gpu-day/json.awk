# SPDX-License-Identifier: Apache-2.0
# json.awk -- the collected lines as JSON. `emulated`, `quick`: as `run` had it.

function quoted(s) {
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	gsub(/[\001-\037]/, " ", s)
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
	} else {
		rows = add(rows, stamped("\"section\": " quoted($2) \
		    ", \"step\": " quoted($3) ", " fields(4)))
	}
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
	print "  \"format\": \"gpu-day 1\","
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
	print "  \"rows\": [\n" rows "\n  ]"
	print "}"
}
