#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# packages.sh -- what Debian's and Spack's recipes say is what the source says:
# the version, the packages, the libraries. `make deb-check` builds them.
. "$(dirname "$0")/tap.sh"

cd "$root" || exit 99
version=$(sed -n 's/^AC_INIT([^,]*, *\[\(.*\)\])/\1/p' configure.ac)
check 'configure.ac has a version' "$([ -n "$version" ] || echo none)"
equal 'the first of NEWS' "libautocast $version" "$(head -n 1 NEWS)"
equal "the first of Debian's changelog" "autocast ($version" \
    "$(sed -n '1s/-[^-]*).*//p' debian/changelog)"
check "Spack's recipe has it" "$(grep -q "version(\"$version\"" \
    packaging/spack/package.py || echo "no version $version")"
check 'and its tarball' "$(grep -q "/libautocast-$version.tar.xz\"" \
    packaging/spack/package.py || echo "no tarball of $version")"
if command -v python3 >/dev/null; then
	check 'and is Python' "$(python3 -c \
	    'import ast, sys; ast.parse(open(sys.argv[1]).read())' \
	    packaging/spack/package.py 2>&1)"
else
	skip 'and is Python' 'no python3'
fi

equal 'each package of debian/control says what is in it' \
    "$(sed -n 's/^Package: //p' debian/control | sort)" \
    "$(for list in debian/*.install; do
	basename "$list" .install
    done | sort)"
equal 'and is tried' "$(sed -n 's/^Package: //p' debian/control | sort)" \
    "$(sed -n "s/^ours='\(.*\)'/\1/p" packaging/try-deb | tr ' ' '\n' | sort)"

# What the packages are built with: what configure would tell a user to install
# for the parts that they have, and what the built files need at run time.
wanted=$(sed -n 's/^Build-Depends: //p' debian/control | tr -d ' ' | tr , '\n')
check 'Build-Depends has what configure asks for' "$(
    cat m4/*.m4 | tr '\n' ' ' | grep -oE \
	'AUTOCAST_LACKS\(\[(emulator|convolutions)\],[^]]*\], *\[[^]]*\]' |
    sed 's/.*\[\(.*\)\]/\1/' | tr ' ' '\n' | grep . | while read -r package; do
	echo "$wanted" | grep -qxF "$package" || echo "$package is not in it"
    done)"
check 'which is something' "$(grep -qE 'AUTOCAST_LACKS\(\[emulator\]' m4/*.m4 ||
    echo 'nothing was read in m4/')"

if [ -f "$build/autocast" ] && command -v readelf >/dev/null; then
	check 'and the libraries that are linked' "$(cd "$build" || exit
	    for file in autocast libautocast.so libautocast-api.so.1 \
		emulator/lib*.so.*; do
		[ ! -f "$file" ] || readelf -d "$file"
	    done | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u |
	    grep -vE '^(ld-linux.*|lib(c|m|dl|pthread)[.]so[.][0-9]+)$' |
	    while read -r library; do
		[ ! -e "emulator/$library" ] || continue
		package=${library%%.so*}-dev
		echo "$wanted" | grep -qxF "$package" ||
		    echo "$library: $package is not in it"
	    done)"
else
	skip 'and the libraries that are linked' 'nothing is built here'
fi
plan
