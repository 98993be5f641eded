# SPDX-License-Identifier: Apache-2.0
# judge.awk -- rhythm's output against the promises. Variables: tol; strict=1: no
# unit may be wrong; floor: the share of good units that must be recast. Prints
# what is broken, nothing else.
#   wrong     beyond tol, or a whole number that is none any more
#   a turn    a wrong kind of data comes that has not been there for 300 calls
# Kinds that some rung cannot do within tol:
function is_delicate(kind)
{
	return kind ~ /^(cancelling|graded|maskedbad|biasbad|onehot|prefix|packed|mixed)$/
}
{
	wrong = !($3 <= tol) || $4 > 0
	if (is_delicate($2) || delicate) {
		if (!turned || $1 > last + 300)
			turned = $1
		last = $1
	} else {
		good++
		recast += !$5
	}
	if (!wrong)
		next
	bad++
	if (NR <= 3)
		print "unit " NR " is wrong: " $0
	if (!turned)
		print "wrong before the data turned: " $0
	else if ($1 > turned + 128 && !late++)
		print "wrong " $1 - turned " calls after the data turned: " $0
}
END {
	if (!NR)
		print "no output"
	if (late > 1)
		print late " such"
	if (strict && bad)
		print bad " of " NR " are wrong under strict"
	if (floor && recast < floor * good)
		print recast " of " good " good ones were recast"
}
