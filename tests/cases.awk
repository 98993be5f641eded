# SPDX-License-Identifier: Apache-2.0
# cases.awk -- makes tests/cases.mk, a part of the makefile, of tests/cases.in,
# which says what its rows are.

function complain(why)
{
	printf "%s:%d: %s\n", FILENAME, line, why | "cat 1>&2"
	failed = 1
}

# A program that configure left out says so to whoever names it.
function close_section()
{
	for (; open > 0; open--) {
		if (left_out != "")
			print "else" left_out
		print "endif"
	}
	left_out = ""
	if (kept != "")
		print "EXTRA_DIST +=" kept
	kept = ""
}

# WORDS are those between the brackets of a heading.
function section(words, count,    i)
{
	close_section()
	kind = words[1]
	folder = words[2] "/"
	verb = kind == "files" ? "keep" : words[3]
	if (verb !~ /^(run|build|keep)$/)
		complain("a heading says run or build after kind and folder")
	if (verb == "run" && !started[kind]++)
		print kind "_tests ="
	for (i = 4; i <= count; i++)
		print "if " words[i]
	open = count - 3
}

function keep(words, count,    i)
{
	for (i = 1; i <= count; i++)
		kept = kept " " folder words[i]
}

# WORD is a source: without a folder it is in that of the program.
function source(word, place)
{
	return " " (word ~ /[\/(]/ ? word : place word)
}

# WORDS are the program at PATH and what it needs.
function program(path, words, count,    id, place, main, more, flags, libs, i)
{
	id = place = main = path
	gsub(/[^A-Za-z0-9_]/, "_", id)
	sub(/[^\/]*$/, "", place)
	flags = sub(/\.so$/, "", main) ? " -shared" : ""
	main = " " main ".c"
	more = libs = ""
	for (i = 2; i <= count; i++)
		if (words[i] ~ /^=.*\.c$/)
			main = source(substr(words[i], 2), place)
		else if (words[i] ~ /\.[ch]$/ || words[i] ~ /^\$\([a-z_]+\)$/)
			more = more source(words[i], place)
		else if (words[i] ~ /^-Wl,/)
			flags = flags " " words[i]
		else if (words[i] ~ /\.a$|\.so|^-l/)
			libs = libs " " words[i]
		else
			complain(words[i] " is no source, flag or library")
	print "check_PROGRAMS += " path
	print id "_SOURCES =" main more
	print id "_LDFLAGS = $(AM_LDFLAGS) $(" kind "_LINK)" flags
	print id "_LDADD =" libs " $(" kind "_LIBS)"
	if (verb == "run")
		left_out = left_out "\n" id "_SOURCES = tests/left_out.c\n" \
		    id "_LDADD ="
}

# The row that has been read: a line and those that continue it.
function finish(    words, count, slow)
{
	slow = sub(/ @slow( |$)/, " ", row)
	count = split(row, words)
	if (row ~ /^\[/) {
		gsub(/[][]/, "", row)
		section(words, split(row, words))
	} else if (count && verb == "") {
		complain("no heading comes before this row")
	} else if (count) {
		if (verb == "keep" || words[1] ~ /\.sh$/)
			keep(words, count)
		else
			program(folder words[1], words, count)
		if (verb == "run") {
			print kind "_tests += " folder words[1]
			print "TESTS += " folder words[1]
			if (!slow)
				print "daily_tests += " folder words[1]
		}
	}
	row = ""
}

/^#/ { next }
/^[ \t]/ { row = row $0; next }
{ finish(); row = $0; line = FNR }
END { finish(); close_section(); exit failed }
