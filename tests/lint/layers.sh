#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layers.sh -- a room includes only the rooms that the architecture lets it.
. "$(dirname "$0")/tap.sh"

may()
{
	case $1 in
	include) echo include autocast.h autocast_absent.h autocast_dynamic.h \
	    autocast_functions.h autocast_scaler.h \
	    autocast_scaler_dynamic.h ;;
	base) echo base ;;
	policy) echo policy base ;;
	kernels) echo kernels base ;;
	api) echo api base include ;;
	scaler) echo scaler api kernels base include ;;
	report) echo report policy base ;;
	shim) echo shim report policy kernels base api include ;;
	emulator) echo emulator kernels base ;;
	cmd) echo cmd report policy base ;;
	esac
}

for room in $rooms; do
	allowed=" $(may "$room") "
	bad=$(files "$room/*.c" "$room/*.h" "$room/*.def" "$room/*.cu" "$room/*.S" |
	    while read -r file; do
		sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$root/$file" |
		    while read -r included; do
			# Catalogue rows are data: the program may read them.
			case $room:$included in cmd:shim/*.def) continue ;; esac
			case $allowed in *" ${included%%/*} "*) continue ;; esac
			echo "$file includes $included"
		done
	    done)
	check "$room stays in its layer" "$bad"
done
bad=$(files 'examples/*.c' | while read -r file; do
	sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$root/$file" |
	    while read -r included; do
		[ -f "$root/examples/$included" ] || echo "$file includes $included"
	    done
done)
check "examples include nothing of ours" "$bad"
bad=$(for room in $rooms; do
	case $room in include | emulator) continue ;; esac
	grep -q "for room in .*\b$room\b" "$root/bench/gpu-day/build.sh" ||
	    echo "$room"
done)
check "bench/gpu-day compiles every room" "$bad"
plan
