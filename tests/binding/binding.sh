# SPDX-License-Identifier: Apache-2.0
# binding.sh -- sourced by the binding tests: libraries of NVIDIA's shape that
# say who was called and answer with a status of their own, and the comparison
# of a program with and without the preload. The stubs are built here, so that
# SONAMEs, version nodes and link flags are in sight of the tests.
. "$(dirname "$0")/../preload/preload.sh"
here=$root/tests/binding
[ -n "${CUDA_CPPFLAGS:-}" ] || [ "${HAVE_CUDA:-}" = yes ] || skip_all 'no CUDA headers'
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all 'the entries behind dlsym() are for x86-64 and aarch64' ;;
esac
in_emulator=

# compile OUTPUT ARGS...
compile()
{
	${CC:-cc} $CUDA_CPPFLAGS -D_GNU_SOURCE -std=gnu11 -Wall -Wextra \
	    "${OPTIMISE:--O2}" -o "$work/$1" "${@:2}" || exit 99
}

# stub FOLDER SONAME SOURCE ARGS...: a library whose names have its SONAME for a
# version, and which does not look elsewhere for its own names: as NVIDIA's.
stub()
{
	mkdir -p "$work/$1"
	echo "$2 { global: cu*; local: *; };" >"$work/$2.map"
	compile "$1/$2" -shared -fPIC -Wl,-soname,"$2" -Wl,-Bsymbolic \
	    -Wl,--version-script="$work/$2.map" "$here/$3" "${@:4}"
}

cublas_stubs()
{
	stub 13 libcublas.so.13 stub_cublas.c -DVERSION=13
	stub 12 libcublas.so.12 stub_cublas.c -DVERSION=12
}

# A driver with one GPU, without which nothing is ever recast.
gpu=
gpu_stub()
{
	compile libcuda.so.1 -shared -fPIC -I"$root" -Wl,-soname,libcuda.so.1 \
	    "$here/stub_driver.c"
	gpu=$work/libcuda.so.1
}

# What else is preloaded: in front of the library and behind it, with and
# without it; and the library once more.
before=
after=
twice=
paths=$work/13:$work/12

# joined WORD...: with colons, without the empty ones.
joined()
{
	printf '%s\n' "$@" | sed '/^$/d' | paste -s -d :
}

# What hangs is stopped, and has failed.
limit=60

# alone PROGRAM ARGS...
alone()
{
	timeout $limit env LD_LIBRARY_PATH="$paths" \
	    LD_PRELOAD="$(joined "$sanitizer" "$before" "$after" "$gpu")" "$@"
}

# bound POLICY PROGRAM ARGS...
bound()
{
	local policy=$1
	shift
	rm -rf "$AUTOCAST_STATE"
	timeout $limit env LD_LIBRARY_PATH="$paths" AUTOCAST_POLICY="$policy" \
	    LD_PRELOAD="$(joined "$sanitizer" "$before" "$library" "$twice" \
	    "$after" "$gpu")" "$@"
}

# counted: calls in the last run's report, counted-only ones included.
counted()
{
	query 'report["totals"]["calls"] + sum(m["calls"]
	    for m in report["markers"] if m["symbol"].startswith("cu"))' \
	    2>/dev/null || echo 0
}

# alike NAME CALLS PROGRAM ARGS...: output, messages and status are those of
# the program without the library, and CALLS calls were counted. The stubs
# write a line per call: one that is lost or made twice shows.
alike()
{
	local name=$1 calls=$2 status complaint=
	shift 2
	alone "$@" >"$work/alone" 2>&1
	echo "status $?" >>"$work/alone"
	bound off "$@" >"$work/bound" 2>&1
	echo "status $?" >>"$work/bound"
	complaint=$(diff "$work/alone" "$work/bound")
	grep -q '^status 0$' "$work/alone" ||
	    complaint="without the library: $(cat "$work/alone") $complaint"
	status=$(counted)
	[ "$status" = "$calls" ] ||
	    complaint="$complaint $status calls counted, not $calls"
	check "$name" "$complaint"
}

# says NAME EXPECTED POLICY PROGRAM ARGS...: what the program prints, on one
# line, with the library.
says()
{
	local found
	found=$(bound "${@:3}" 2>&1) || found="$found status $?"
	equal "$1" "$2" "$(tr '\n' ' ' <<<"$found" | sed 's/ $//')"
}
