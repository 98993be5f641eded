# SPDX-License-Identifier: Apache-2.0
# judge.awk -- rhythm's output against the promises. Variables: tol; strict=1: no
# unit may be wrong; floor: the share of good units that must be recast; within:
# calls after a turn of the data that may be wrong (128); slack: how many more
# where whole numbers are lost, which samples alone see. Prints what is broken,
# nothing else.
#   wrong     beyond tol, or a whole number that is none any more
#   a turn    a layer's data are of a wrong kind, and neither were for 300 calls,
#             nor were just now those of the layer before
BEGIN {
	if (!within)
		within = 128
}
# Kinds of which only numbers that FP16 and TF32 can hold get lost:
function is_counted(kind)
{
	return kind ~ /^(onehot|prefix|packed|mixed)$/
}
# Kinds that some rung cannot do within tol:
function is_delicate(kind)
{
	return is_counted(kind) ||
	    kind ~ /^(cancelling|graded|maskedbad|biasbad|subnormal|opposed|odd)$/
}
!/^[0-9]/ {
	print "no result: " $0
	next
}
{
	wrong = !($3 <= tol) || $4 > 0
	if (is_delicate($2) || delicate) {
		if (!turned[$6] || $1 > last[$6] + 300)
			turned[$6] = before == $2 ? turned[layer] : $1
		last[$6] = $1
	} else if ($2 != "zero") { # whose results are the same in any case
		good++
		recast += !$5
	}
	before = $2
	layer = $6
	if (!wrong)
		next
	bad++
	limit = within + (is_counted($2) || counted ? slack : 0)
	if ($1 <= 3)
		print "one of the first three calls is wrong: " $0
	if ($7 == "graph") {
		if (!replays++)
			print "a replay is wrong: " $0
	} else if (!turned[$6])
		first = early++ ? first : $0
	else if ($1 > turned[$6] + limit && !late++)
		print "wrong " $1 - turned[$6] " calls after the data turned: " $0
}
END {
	if (!NR)
		print "no output"
	if (early)
		print early " are wrong before the data turned: " first
	if (late > 1)
		print late " such, of " NR
	if (strict && bad)
		print bad " of " NR " are wrong under strict"
	if (floor && recast < floor * good)
		print recast " of " good " good ones were recast"
}
