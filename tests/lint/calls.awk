# SPDX-License-Identifier: Apache-2.0
# calls.awk -- who refers to whom, from the objects: the names of sources, one a
# line, then what `nm -A -P` says of objects. Prints, by `show`:
#   climbs   what a folder of shim/ needs of one that is not before it in
#            `ladder`, where a comma joins folders of one rung
#   circles  folders that need each other
#   knots    files of one folder, more than `most`, each of which needs all others
# A table of entries (`tables`) names what is above it and decides nothing; what
# it names is no need.
BEGIN {
	count = split(ladder, rungs, " ")
	for (i = 1; i <= count; i++) {
		split(rungs[i], names, ",")
		for (j in names)
			step["shim/" names[j]] = i
	}
	count = split(tables, names, " ")
	for (i = 1; i <= count; i++)
		is_table[names[i]]
}

NF == 1 { is_source[$1]; next }

# An object is FOLDER/PROGRAM-FILE.o; of what was moved away it has no source.
{
	file = substr($1, length(build) + 2)
	sub(/\.o:$/, "", file)
	if (match(file, /[^\/]*-/))
		file = substr(file, 1, RSTART - 1) substr(file, RSTART + RLENGTH)
	if (file ".c" in is_source)
		file = file ".c"
	else if (file ".S" in is_source)
		file = file ".S"
	else
		next
	# NVIDIA's names are defined by the shim, and again by the emulator.
	half = file ~ /^emulator\// ? "emulator" : "product"
}
$3 == "U" || $3 ~ /^[vw]$/ { wants[file, $2, half]; next }
$3 ~ /^[A-Zu]$/ && !(($2, half, file) in known) {
	known[$2, half, file]
	homes[$2, half] = homes[$2, half] " " file
}

function folder_of(file) {
	sub(/\/[^\/]*$/, "", file)
	return file
}

# reached[y] for all y that x leads to by `way`.
function reach(x,    n, count, y) {
	count = split(way[x], n, " ")
	for (y = 1; y <= count; y++)
		if (!(n[y] in reached)) {
			reached[n[y]]
			reach(n[y])
		}
}

# circle[x]: all that x leads to and that lead back, sorted by their first.
function close_ways(    x, y) {
	for (x in way) {
		split("", reached)
		reach(x)
		for (y in reached)
			leads[x, y]
	}
	split("", circle)
	for (x in way)
		for (y in way)
			if (x != y && (x, y) in leads && (y, x) in leads)
				circle[x] = circle[x] " " y
}

END {
	for (want in wants) {
		split(want, part, SUBSEP)
		from = part[1]; symbol = part[2]; half = part[3]
		if (from in is_table)
			continue
		if (!((symbol, half) in homes))
			half = "product"
		count = split(homes[symbol, half], definers, " ")
		for (i = 1; i <= count; i++)
			if (definers[i] != from)
				why[from, definers[i]] = symbol
	}
	for (pair in why) {
		split(pair, part, SUBSEP)
		a = folder_of(part[1]); b = folder_of(part[2])
		if (a == b && show == "knots")
			way[part[1]] = way[part[1]] " " part[2]
		if (a == b)
			continue
		if (show == "circles") {
			way[a] = way[a] " " b
			reason[a, b] = part[1] " needs " part[2] ": " why[pair]
		}
		if (show == "climbs" && step[a] && step[b] >= step[a])
			print part[1] " needs " part[2] ": " why[pair]
	}
	if (show == "climbs")
		exit
	close_ways()
	for (x in circle) {
		count = split(circle[x], others, " ")
		if (show == "knots" && count + 1 > most) {
			first = x
			for (i = 1; i <= count; i++)
				if (others[i] < first)
					first = others[i]
			if (first == x)
				print count + 1 " files:" circle[x] " " x
		}
		for (i = 1; show == "circles" && i <= count; i++)
			if ((x, others[i]) in reason)
				print reason[x, others[i]]
	}
}
