# SPDX-License-Identifier: Apache-2.0
# judge.awk -- rhythm's output against the promises. Variables: tol; floor: the share
# of good units, after the first three, that must be recast; sums: of chains that
# cancel, so many units may be wrong, the first ones. Prints what is broken, nothing
# else.
#   wrong     beyond tol, or a whole number that is none any more
# Kinds of which some rung cannot do within tol are recomputed or kept: whether they
# are recast is no promise. Nor is it of unequal ones: the columns are judged by few of
# the rows, of which fewer count, so that some are recomputed for nothing.
function is_delicate(kind)
{
	return kind ~ /^(onehot|prefix|packed|mixed|cancelling|graded)$/ ||
	    kind ~ /^(maskedbad|biasbad|subnormal|opposed|spike|odd|unequal)$/
}
!/^[0-9]/ {
	print "no result: " $0
	next
}
{
	if ($3 > tol || $3 != $3 + 0 || $4 > 0) {
		if (++wrong > sums && !said++)
			print "wrong: " $0
	}
	if (NR > 3 && !is_delicate($2) && $2 != "zero") {
		good++
		recast += !$5
	}
}
END {
	if (!NR)
		print "no output"
	if (wrong > sums + 0)
		print wrong " of " NR " are wrong"
	if (floor && recast < floor * good)
		print recast " of " good " good ones were recast"
}
