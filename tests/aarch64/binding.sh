# SPDX-License-Identifier: Apache-2.0
# binding.sh -- stands in for tests/binding/binding.sh when qemu.sh runs those
# tests: what they compile is for aarch64, and runs in qemu-user.
. "$top_srcdir/tests/binding/binding.sh"
here=$(cd "$(dirname "$0")" && pwd)
library=$AARCH64_LIBRARY
sanitizer=
in_emulator=yes

# emulate PROGRAM ARGS...: the loader's variables are meant for the program.
emulate()
{
	local libraries=${LD_LIBRARY_PATH:-} preloaded=${LD_PRELOAD:-}
	LD_PRELOAD='' LD_LIBRARY_PATH='' command timeout 240 qemu-aarch64 \
	    -cpu max -L "$AARCH64_PREFIX" -E LD_LIBRARY_PATH="$libraries" \
	    -E LD_PRELOAD="$preloaded" "$@"
}

# compile OUTPUT ARGS...: a program's path becomes a function of that name, so
# that whoever calls it runs it in qemu.
compile()
{
	$CC $CUDA_CPPFLAGS -D_GNU_SOURCE -std=gnu11 -Wall -Wextra \
	    "${OPTIMISE:--O2}" -o "$work/$1" "${@:2}" || exit 99
	case " $* " in
	*' -shared '*) ;;
	*) eval "function $work/$1 { emulate '$work/$1' \"\$@\"; }" ;;
	esac
}

# Programs of these names cannot call a function.
timeout()
{
	shift
	"$@"
}

env()
{
	(
		while [[ $1 == *=* ]]; do
			export "${1?}"
			shift
		done
		"$@"
	)
}
