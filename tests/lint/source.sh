#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# source.sh -- what every file of the project keeps to.
. "$(dirname "$0")/tap.sh"

cd "$root" || exit 99
work=$(mktemp) || exit 99
trap 'rm -f "$work"' EXIT
folders="$rooms examples tests bench"
sources=$(for folder in $folders; do
	files "$folder/*.c" "$folder/*.h" "$folder/*.def" "$folder/*.cu" \
	    "$folder/*.S" "$folder/*.sh"
done | sort -u)
code=$(for folder in $folders; do
	files "$folder/*.c" "$folder/*.h" "$folder/*.cu"
done | sort -u)

{
# Tables of cases make tests longer than what they test.
check 'no file is longer than 400 lines (tests: 600)' "$(wc -l $sources |
    awk '$2 != "total" && $1 > ($2 ~ /^tests/ ? 600 : 400) { print $2 ": " $1 " lines" }')"
# Between braces that stand alone at the left.
check 'no function of the product is longer than 60 lines' "$(for room in $rooms; do
	files "$room/*.c" "$room/*.h" "$room/*.cu"
done | sort -u | xargs awk 'FNR == 1 { open = 0 }
    /^\{/ { open = FNR }
    /^\}/ {
	if (open && FNR - open > 61)
		print FILENAME ":" open ": " FNR - open - 1 " lines"
	open = 0
    }')"
check 'every file opens with its licence' "$(for file in $sources; do
	case $file in *.def) continue ;; esac
	head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
	    echo "$file"
done)"
# A tab is 8 wide. In a test, text that is compared stays in one piece.
check 'no line is longer than 80 columns' "$(awk '
    {
	count = split($0, piece, "\t")
	width = 0
	for (i = 1; i < count; i++)
		width = 8 * int((width + length(piece[i])) / 8 + 1)
	width += length(piece[count])
    }
    width > 80 && !(FILENAME ~ /^tests/ && has_text($0)) {
	print FILENAME ":" FNR ": " width
    }
    function has_text(line) {
	if (line ~ /^[ \t]*"/)
		return 1
	for (; match(line, /"([^"\\]|\\.)*"/); line = substr(line, RSTART + RLENGTH))
		if (RLENGTH > 40)
			return 1
	return 0
    }' $code)"
check 'lines begin with tabs, then fewer than 8 spaces, but in comments' \
    "$(awk '/^\t* +\t/ || /^\t*        / && !/^\t* +\*/ { print FILENAME ":" FNR }' \
    $code)"
# A macro that makes functions, and one that opens them, does as it likes.
check 'the name of a function that is defined stands at the left' "$(awk '
    FNR == 1 { last = "" }
    /^\{/ && last !~ /^[A-Za-z_][A-Za-z0-9_]*\(/ && last !~ /\\$/ ||
    /^[A-Za-z_].*\)[ \t]*\{$/ && !/^[A-Z_]+\(/ {
	print FILENAME ":" FNR ": " last
    }
    /^[A-Za-z_]/ { last = $0 }' $code)"
check 'no two blank lines, and none at the end of a file' "$(awk '
    FNR == 1 {
	if (is_blank)
		print file ": ends in one"
	is_blank = 0
    }
    /^$/ && is_blank { print FILENAME ":" FNR }
    { is_blank = /^$/; file = FILENAME }
    END { if (is_blank) print file ": ends in one" }' $code)"
# A reader who finds one must not ask which. Files that only use a name of
# their own may choose the same.
check 'what a header calls a struct, a union or an enum, nobody else does' \
    "$(for room in $rooms; do
	files "$room/*.c" "$room/*.h" "$room/*.cu" "$room/*.def"
done | sort -u | xargs awk '
    {
	line = $0
	while (match(line, /(struct|union|enum)[ \t]+[A-Za-z0-9_]+[ \t]*\{/)) {
		split(substr(line, RSTART, RLENGTH), word, /[ \t{]+/)
		where = where_of[word[2]]
		if (!seen[word[2], FILENAME]++)
			where_of[word[2]] = where " " FILENAME
		if (FILENAME ~ /\.h$/)
			is_shared[word[2]]
		line = substr(line, RSTART + RLENGTH)
	}
    }
    END {
	for (tag in is_shared)
		if (split(where_of[tag], files, " ") > 1)
			print tag ":" where_of[tag]
    }')"
check 'no white space at line ends' "$(grep -nE '[[:blank:]]$' $sources)"
check 'no notes to oneself' \
    "$(grep -nE '\b(TODO|FIXME|XXX)\b' $sources | grep -vE '^tests/lint/source.sh|ok .*# TODO')"
all="$sources $(files Makefile.am configure.ac 'm4/*' 'man/*' '*.md' quickstart bootstrap)"
# What a reader would look up, or read twice. Measured results stay as they are.
check 'words that everybody knows' "$(grep -niwE \
    'beside|anew|in vain|lest|thereof|whereof|hereby|whilst|albeit|hitherto|told by' $all NEWS |
    grep -vE '^(tests/lint/source.sh|bench/results/)')"
check 'each word of the policy language says who needs it' \
    "$(grep -E '^(QUANTITY|FACT|SETTING)\( ' policy/words.def | grep -v ' /\* .* \*/$')"
check 'the glossary has 40 rows at most' "$(awk '/^## Glossary/ { on = 1 }
    on && /^\| / { n++ } END { if (n - 2 > 40 || n < 10) print n - 2 }' CONTRIBUTING.md)"
# The sets of headers that ./quickstart downloads have these.
check 'NVIDIA'\''s headers are among those that everybody has' "$(grep -noHE \
    '^ *# *include <(cu|nv)[A-Za-z0-9_]*\.h>' $sources | grep -v ^tests/strangers/ |
    grep -vE '<(cublas|cublas_api|cublas_v2|cublasLt|cublasXt|cuda|cuda_runtime|cuda_runtime_api|cudnn|cudnn_backend)\.h>')"
# Those of CUDA 13.0, that is, which lack some of 13.1's functions and names.
check 'what the headers of CUDA 13.0 lack is asked for by their version' "$(files '*.c' '*.h' |
    xargs awk '
    /cublas(LtEmulationDesc|[SG]et(FixedPointEmul|EmulationSpec))/ ||
    /CUBLAS(LT)?_[A-Z0-9_]*(EMULATION_DESC|EMULATED_FIXEDP)/ { uses[FILENAME] }
    /^#if CUBLAS_VERSION >= 130100/ { asks[FILENAME] }
    END { for (file in uses) if (!(file in asks)) print file }' 2>&1)"
# What works on one machine only: home folders, addresses to download from.
check 'no machine is named' "$(grep -nE '/home/[a-z]|/root/|(^|[^A-Z])/work/|https?://[a-z]' $all |
    grep -v '^tests/lint/source.sh')"
}
# A page is named by its path, or stands in the folder of who names it. What is
# behind a variable is none; a GPU day writes results.md.
files '*.md' >"$work"
check 'every page that is cited is there' "$(files '*.c' '*.h' '*.def' '*.cu' \
    '*.S' '*.sh' '*.py' '*.am' '*.mk' '*.md' configure.ac |
    xargs grep -noHE '[A-Za-z0-9_./$}-]*[A-Za-z0-9_-]\.md\b' |
    sort -u | grep -vE ':.*\$|:[}/]|(^|[:/])results\.md$' |
    while IFS=: read -r file line page; do
	grep -qxF -e "$page" -e "${file%/*}/$page" "$work" ||
	    echo "$file:$line: $page"
    done)"
# By its path from the top, in comments and pages, or from the page's folder.
# NAME and the like stand for any.
check 'every file that is cited by its path is there' "$(
    anywhere="\\b($(echo "$folders" doc man | tr ' ' '|'))"
    suffix='(c|h|cu|S|def|sh|awk|py|mk|ptx|policy|expected)\b'
    {
	files '*.c' '*.h' '*.def' '*.cu' '*.S' '*.md' |
	    xargs grep -noHE "$anywhere/[A-Za-z0-9_./-]*[A-Za-z0-9_]\.$suffix"
	files '*.md' |
	    xargs grep -noHE "\`[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]*[A-Za-z0-9_]\.$suffix"
    } | tr -d '`' | sort -u | grep -v '[A-Z][A-Z][^:]*$' |
    while IFS=: read -r file line cited; do
	[ -e "$cited" ] || [ -e "${file%/*}/$cited" ] ||
	    echo "$file:$line: $cited"
    done)"
# With empty parentheses in a comment, a page or a call; otherwise in its
# declaration.
check 'every function of ours that is cited is there' "$({
	files '*.c' '*.h' '*.def' '*.cu' '*.S' |
	    xargs grep -ohE '\b(ac|emu|ptx)_[a-z0-9_]+\b(\(\))?' | sort -u |
	    sed -n 's/^[^(]*$/there &/p'
	files '*.c' '*.h' '*.def' '*.cu' '*.S' '*.md' |
	    xargs grep -oHE '\b(ac|emu|ptx)_[a-z0-9_]+\(\)' | sort -u |
	    sed 's/:/ /; s/()//'
    } | awk '$1 == "there" { there[$2]; next } !($2 in there) { print $1 ": " $2 }')"
# A line for each reason, and the files that decide or give it.
reasons()
{
	sed -nE 's/^REASON\( ([A-Z_]+), *"([a-z-]+)".*/\1 \2/p' policy/words.def |
	    grep -v '^NONE ' | while read -r id name; do
		echo "$name:" "$(files 'shim/*.c' 'policy/decide/*.c' \
		    'report/count/*.c' | grep -v '/explain\.c$' |
		    xargs grep -lw "AC_REASON_$id" | sort | paste -sd' ' -)"
	done
}
check 'doc/ways.md says where each reason is given' "$(
    reasons >"$work"
    awk '/^## / { inside = /kept$/ } inside && /^```/ { open = !open; next }
	inside && open { printf "%s%s", /^    / ? " " : n++ ? "\n" : "", $0 }
	END { print "" }' doc/ways.md | tr -s ' ' | diff "$work" -)"
plan
