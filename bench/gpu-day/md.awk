# SPDX-License-Identifier: Apache-2.0
# md.awk -- the collected lines as Markdown. `emulated`, `quick`: as `run` had
# it.

function field(name,    i) {
	for (i = 2; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return ""
}

function add(list, text) {
	return list text "\n"
}

# A heading, which says what the numbers below it are.
function heading(text) {
	print "\n## " text (emulated ? " (emulated: not a measurement)" : "") "\n"
}

function spread(    m) {
	m = field("median")
	return m > 0 ? sprintf("%.1f %%", 100 * (field("high") - field("low")) / m) : ""
}

$1 == "M" {
	for (i = 2; i <= NF; i++) {
		at = index($i, "=")
		if (at)
			machine = add(machine, "- " substr($i, 1, at - 1) ": " \
			    substr($i, at + 1))
	}
}
$1 == "S" {
	states = add(states, "| " $2 " | " $3 " | " $4 " | " $5 " | " $6 " |")
	state[$3] = state[$3] == "" || $4 != "done" ? $4 : state[$3]
}
$1 == "Q" {
	ids[++questions] = $2
	step[$2] = $3
	text[$2] = $4
	rule[$2] = $5
}
$1 == "G" {
	goals = add(goals, "| " field("goal") " | " field("wanted") " | " \
	    field("value") " | " field("reached") " | " field("note") " |")
}
$1 == "R" && $4 == "row=item" {
	id = field("id")
	answers[id] = add(answers[id], "| " field("part") " | " field("value") \
	    " | " field("unit") " | " (emulated ? "emulated: " : "") \
	    field("verdict") " | " field("note") " |")
}
$1 == "P" {
	line = "|"
	for (i = 2; i <= NF; i++)
		line = line " " $i " |"
	sweep = add(sweep, line)
}
# The header first; a line per layer, operation and layout.
$1 == "C" {
	n = split("layer op layout default fma conversion graph down graph-down amp amp_rung default_error down_error amp_error", names, " ")
	if (!convolutions) {
		for (i = 2; i <= NF; i++)
			at_column[$i] = i
		for (i = 1; i <= n; i++)
			convolutions = convolutions "| " names[i] " "
		convolutions = convolutions "| default by amp |\n"
		for (i = 0; i <= n; i++)
			convolutions = convolutions "|---"
		convolutions = add(convolutions, "|")
		next
	}
	line = ""
	for (i = 1; i <= n; i++)
		line = line "| " $at_column[names[i]] " "
	convolutions = add(convolutions, line "| " ($at_column["amp"] > 0 ? \
	    sprintf("%.3f", $at_column["default"] / $at_column["amp"]) : "") \
	    " |")
}
$1 == "T" { tests = add(tests, "| " $2 " | " $3 " | " $4 " |") }
$1 == "V" {
	published = add(published, "| " $2 " | " $3 " | " $4 " | " $5 " | " $6 \
	    " | " $7 " | " $8 " | " $9 " | " $10 " |")
}
$1 == "R" && $4 == "row=stop" { stopped = field("reason") }
$1 == "R" && $4 == "row=value" {
	if (values[$2] == "")
		valued[++value_sections] = $2
	values[$2] = add(values[$2], "| " $3 " | " field("name") " | " \
	    field("value") " | " field("unit") " | " field("note") " |")
}
$1 == "R" && $4 == "row=time" {
	times[$2] = add(times[$2], "| " field("case") " | " field("way") " | " \
	    $3 " | " field("median") " | " spread() " | " field("samples") \
	    " x " field("calls") " | " field("tflops") " | " field("error") " |")
}
$1 == "R" && $4 == "row=host" {
	hosts = add(hosts, "| " field("case") " | " field("way") " | " \
	    field("median") " | " spread() " | " field("samples") " x " \
	    field("calls") " |")
}
$1 == "R" && $4 ~ /^row=(cast|check|recast|rate|left_out|library)$/ {
	line = "- " $3 ","
	for (i = 4; i <= NF; i++)
		line = line " " $i
	others = add(others, line)
}

function unanswered(id,    names, n, i, why) {
	n = split(step[id], names, " ")
	for (i = 1; i <= n; i++)
		why = why (i > 1 ? ", " : "") names[i] ": " \
		    (state[names[i]] == "" ? "not-run" : state[names[i]])
	return "| - | | | not measured | " why " |\n"
}

END {
	print "# A day with a GPU"
	if (emulated)
		print "\n**Emulated: not a measurement.** No time below says anything about a GPU."
	if (quick)
		print "\nA try-out with small sizes and few samples."
	printf "\n%s", machine
	if (stopped != "")
		print "\n**Stopped:** " stopped
	for (i = 1; i <= value_sections; i++) {
		heading("Section " valued[i])
		print "| step | what | value | unit | note |\n|---|---|--:|---|---|"
		printf "%s", values[valued[i]]
	}
	heading("Goals")
	print "| goal | wanted | value | reached | note |\n|---|---|---|---|---|"
	printf "%s", goals
	heading("Questions")
	for (i = 1; i <= questions; i++) {
		id = ids[i]
		print "### " id ": " text[id] "\n\nVerdict: " rule[id] ".\n"
		print "| part | value | unit | verdict | note |\n|---|---|---|---|---|"
		print (answers[id] == "" ? unanswered(id) : answers[id])
	}
	heading("Tests")
	print "| test | result | case |\n|---|---|---|"
	printf "%s", tests
	if (sweep != "") {
		heading("Sweep")
		print "Median seconds of one call over all rounds; the last column is native by amp.\n"
		print "| case | native | TF32 | override | FAST_16F | pure FP16 | amp | fp16 | tf32 | fp16x2 | fp16x3 | bf16x3 | bf16x6 | ratio |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
		printf "%s", sweep
	}
	heading("Published by others")
	print "Not measured here; the last columns are this visit's.\n"
	print "| what | GPU | N | TFLOP/s | error | against | ours, TFLOP/s | its error | source |\n|---|---|--:|--:|--:|---|--:|--:|---|"
	printf "%s", published
	if (convolutions != "") {
		heading("Convolutions")
		print "ResNet-50, median seconds of one call over all rounds; conv.csv has the rest.\n"
		printf "%s", convolutions
	}
	n = split("first python sweep questions", order, " ")
	for (i = 1; i <= n; i++) {
		if (times[order[i]] == "")
			continue
		heading("Times: " order[i])
		print "Median seconds of one call; the spread is between the quartiles.\n"
		print "| case | way | step | median | spread | samples | TFLOP/s | error |\n|---|---|---|--:|--:|--:|--:|--:|"
		printf "%s", times[order[i]]
	}
	if (hosts != "") {
		heading("What a call costs the program")
		print "| N | way | median s | spread | samples |\n|---|---|--:|--:|--:|"
		printf "%s", hosts
	}
	heading("Other rows")
	printf "%s", others
	heading("Steps")
	print "| section | step | state | seconds | limit |\n|---|---|---|--:|--:|"
	printf "%s", states
}
