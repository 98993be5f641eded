#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layers.sh -- a room includes only the rooms that the architecture lets it; so do
# the folders in it. Calls keep to the same order as far as there are objects.
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
	emulator) echo emulator base ;;
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
			# libtwins.so alone, which is no part of the product.
			case $file:$included in
			kernels/twins/twins_emulated.c:emulator/driver/twin.h) continue ;;
			esac
			case $allowed in *" ${included%%/*} "*) continue ;; esac
			echo "$file includes $included"
		done
	    done)
	check "$room stays in its layer" "$bad"
done
# Of shim/ a folder includes those before it only: the features, which stand on
# one rung, do not include each other.
ladder='start bind device trial site gemm,conv,scaling graph,lt process'
# edges: FOLDER FOLDER FILE HEADER of all includes between two folders.
edges=$(for room in $rooms; do
	files "$room/*.c" "$room/*.h" "$room/*.def" "$room/*.cu" "$room/*.S"
done | sort -u | while read -r file; do
	sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\/[^"]*\)".*/\1/p' "$root/$file" |
	    while read -r included; do
		[ "${file%/*}" = "${included%/*}" ] ||
		    echo "${file%/*} ${included%/*} $file $included"
	    done
done)
check 'shim: a folder includes those before it on the ladder only' \
    "$(echo "$edges" | awk -v ladder="$ladder" '
	BEGIN {
		count = split(ladder, rungs, " ")
		for (i = 1; i <= count; i++) {
			split(rungs[i], names, ",")
			for (j in names)
				step["shim/" names[j]] = i
		}
	}
	$1 ~ "^shim/" && !step[$1] { print $1 " is not on the ladder" }
	step[$1] && step[$2] >= step[$1] {
		print $3 " includes " $4
	}')"
# Folders that nobody includes, or that include nobody, are in no circle; when
# they are taken out again and again, circles are left.
check 'no folders include each other in a circle' \
    "$(echo "$edges" | awk '
	!seen[$1, $2]++ { from[++n] = $1; to[n] = $2 }
	END {
		do {
			gone = 0
			split("", left); split("", entered)
			for (i in from) { left[from[i]]; entered[to[i]] }
			for (i in from)
				if (!(from[i] in entered) || !(to[i] in left)) {
					delete from[i]; delete to[i]; gone++
				}
		} while (gone)
		for (i in from)
			print from[i] " includes " to[i]
	}')"
# What files need of each other, by their objects. A file of these names all
# entries of one kind, wherever they are, for whoever looks one up.
tables='shim/bind/thunk.c cmd/main.c api/functions.c'
work=$(mktemp) || exit 99
trap 'rm -f "$work"' EXIT
for room in $rooms; do
	files "$room/*.c" "$room/*.S"
done | sort -u >"$work"
# Only those that the makefile knows: of a file that was moved one is left.
grep -o '[A-Za-z0-9_/.-]*\.\$(OBJEXT)' "$build/Makefile" 2>/dev/null |
    sed "s,\(.*\)\..*,$build/\1.o," | sort -u |
    xargs -r nm -A -P >>"$work" 2>/dev/null
# calls SHOW: what calls.awk says of it.
calls()
{
	awk -v build="$build" -v ladder="$ladder" -v tables="$tables" -v most=1 \
	    -v show="$1" -f "$root/tests/lint/calls.awk" "$work" | sort
}
# natural FILES: a circle that is one thing in several files.
natural()
{
	case $1 in
	# The grammar of a policy is recursive, and so are the operands, bodies and
	# first values of PTX.
	policy/language/parse.c\ *) ;;
	emulator/ptx/arguments.c\ *body.c\ *decode.c) ;;
	emulator/ptx/declare.c\ *initial.c\ *operand.c) ;;
	emulator/ptx/grid.c\ *helpers.c) ;;
	emulator/ptx/atomic.c\ *memory.c | emulator/ptx/matrix.c\ *multiply.c) ;;
	# A message asks the environment whether it is wanted; that has warnings.
	base/env.c\ base/log.c) ;;
	# Records in a file, and the counters of threads that are added to them.
	report/count/count.c\ *live.c\ *ranges.c\ *shard.c) ;;
	# What is proven of a library's descriptors is part of what is known of it.
	shim/lt/library.c\ shim/lt/proof.c) ;;
	# A site is an operation, and an operation may be a site's.
	cmd/explain/explain.c\ cmd/explain/explain_site.c) ;;
	# What a stream of the emulated GPU submits or records.
	emulator/driver/capture.c\ *streams.c) ;;
	emulator/driver/ahead.c\ *clock.c\ *context.c\ *stream.c) ;;
	emulator/driver/call.c\ *counters.c\ *device.c) ;;
	emulator/driver/api/cuda_function.c\ *cuda_kernel.c\ *cuda_module.c) ;;
	emulator/cublas/cublas_gemm.c\ *cublas_product.c) ;;
	emulator/cudnn/graph/cudnn_backend.c\ *cudnn_backend_answer.c) ;;
	emulator/cudnn/graph/cudnn_backend_final.c\ *cudnn_backend_load.c) ;;
	*) return 1 ;;
	esac
}
if [ -f "$build/base/libbase.a" ] && command -v nm >/dev/null; then
	check 'shim: a folder calls those before it on the ladder only' \
	    "$(calls climbs)"
	check 'no folders call each other in a circle' "$(calls circles)"
	check 'no files of a folder call each other in a circle, but for natural ones' \
	    "$(calls knots | sed 's/.*: //' | while read -r circle; do
		natural "$(printf '%s\n' $circle | sort | xargs)" || echo "$circle"
	    done)"
else
	skip 'who calls whom' 'not built'
fi
check 'no folder of the product has more than 25 files' \
    "$(for room in $rooms; do
	[ $room = emulator ] || files "$room/*.c" "$room/*.h" "$room/*.def" \
	    "$room/*.cu" "$room/*.S"
    done | sort -u | sed 's,/[^/]*$,,' | sort | uniq -c |
    awk '$1 > 25 { print $2 ": " $1 }')"
check 'every folder of the product has a README and its part of the makefile' \
    "$(for room in $rooms; do files "$room/*.[chS]"; done | sed 's,/[^/]*$,,' |
    sort -u | while read -r folder; do
	[ -f "$root/$folder/README.md" ] || case $folder in
	emulator/*) ;;
	*) echo "$folder: no README.md" ;;
	esac
	[ -f "$root/$folder/local.mk" ] || case $folder in
	include | api) ;; # scaler/local.mk has theirs
	*) echo "$folder: no local.mk" ;;
	esac
    done)"
check 'the top makefile has 200 lines at most, each part of it 150' \
    "$(files Makefile.am '*local.mk' | while read -r file; do
	most=150
	[ "$file" != Makefile.am ] || most=200
	lines=$(wc -l <"$root/$file")
	[ "$lines" -le $most ] || echo "$file: $lines lines"
    done)"
check 'a README names each C file of its folder' \
    "$(for room in $rooms; do files "$room/*.[ch]"; done | sort -u |
    while read -r file; do
	readme=$root/${file%/*}/README.md name=${file##*/}
	[ ! -f "$readme" ] || grep -qF "$name" "$readme" || echo "$file"
    done)"
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
