# SPDX-License-Identifier: Apache-2.0
# emulator/names/map.awk -- the version script of one library, from its list:
# it exports these names, under the node that NVIDIA's has, and nothing else.
# NVIDIA's driver has no nodes; ours serves its sisters, too.
/^#/ { next }
{
	split($0, part, "@")
	if (!started++)
		print part[2] " {\n\tglobal:"
	node = part[2]
	print "\t" part[1] ";"
}
END {
	if (node == "")
		print "\temu*;"
	print "\tlocal: *;\n};"
}
