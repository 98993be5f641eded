# SPDX-License-Identifier: Apache-2.0
# tap.sh -- sourced by the lint tests: where things are, and TAP.
root=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
build=$(cd "${top_builddir:-$root/build}" 2>/dev/null && pwd) || build=$root
# The Makefile of a copied build tree still names the original one.
if [ -n "${top_builddir:-}" ] && [ -e config.status ] && ! [ . -ef "$build" ]
then
	echo "Bail out! $PWD was copied from $build: configure it again"
	exit 99
fi
rooms='include api base policy kernels scaler report shim emulator cmd'
cases=0
LC_ALL=C
export LC_ALL

# check NAME COMPLAINTS: the case passes if there are no complaints.
check()
{
	cases=$((cases + 1))
	if [ -z "$2" ]; then
		echo "ok $cases - $1"
	else
		echo "not ok $cases - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

# equal WHAT EXPECTED FOUND
equal()
{
	if [ "$2" = "$3" ]; then
		check "$1" ''
	else
		check "$1" "expected: $2
found:    $3"
	fi
}

# owed NAME COMPLAINTS: a promise that is known to be broken; the case fails as
# soon as it is kept.
owed()
{
	check "$1 # TO""DO" "$2"
}

# skip NAME REASON
skip()
{
	cases=$((cases + 1))
	echo "ok $cases - $1 # SKIP $2"
}

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

plan()
{
	echo "1..$cases"
}

# Every file of the project whose name matches one of the patterns, relative
# to $root: what git tracks, or what the tarball holds. distcheck builds in
# _build, where other tests write programs meanwhile.
files()
{
	(
		cd "$root" || exit
		if [ -e .git ] && command -v git >/dev/null 2>&1 &&
		    git ls-files --error-unmatch configure.ac >/dev/null 2>&1; then
			git ls-files -- "$@"
		else
			for pattern; do
				find . -path './build*' -prune -o \
				    -path './_*' -prune -o -path "./$pattern" \
				    -type f -print
			done | sed 's,^\./,,' |
			    grep -vE '^(configure|aclocal\.m4|autom4te\.cache)|(^|/)Makefile(\.in)?$'
		fi
	) | sort -u | while read -r file; do
		[ -f "$root/$file" ] && echo "$file"
	done
}

# The text of C file $1 without comments and string literals.
code()
{
	sed -e ':more' -e 's:/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/::g' \
	    -e '/\/\*/{N;bmore' -e '}' -e 's://.*$::' \
	    -e 's/"[^"]*"/""/g' "$root/$1"
}
