# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# build.sh -- sourced by `run`: compiles what it measures, and what it measures
# with, by nothing but a C compiler. For tests of the library itself there is
# the makefile; this knows the rooms, not their files.

# find_cuda: where CUDA 13's headers and libraries are. Sets cuda_flags,
# cublas, cublaslt, cudart (files to link with), libraries (folders to load from).
find_cuda()
{
	cuda_flags='' libraries=''
	roots="${CUDA_HOME:-} ${CUDA_PATH:-}"
	# Where it is, not where a link to it is.
	nvcc=$(command -v nvcc) && nvcc=$(readlink -f "$nvcc") &&
	    roots="$roots ${nvcc%/bin/nvcc}"
	roots="$roots /usr/local/cuda /opt/cuda /usr"
	pip=$(python3 -c 'import sysconfig
print(sysconfig.get_path("purelib"))' 2>/dev/null)
	roots="$roots ${pip:+$pip/nvidia/cu13}"
	for root_folder in $roots; do
		[ -f "$root_folder/include/cublas_v2.h" ] || continue
		cublas=$(one_of "$root_folder" cublas) || continue
		cublaslt=$(one_of "$root_folder" cublasLt) || continue
		cudart=$(one_of "$root_folder" cudart) || continue
		[ "$root_folder" = /usr ] ||
		    cuda_flags="-isystem $root_folder/include"
		libraries=${cublas%/*}
		[ "${cudart%/*}" = "$libraries" ] ||
		    libraries=$libraries:${cudart%/*}
		break
	done
	[ -n "$libraries" ] || return 1
	# Pip's packages lack headers that come with the compiler.
	for folder in ${nvcc:+"${nvcc%/bin/nvcc}"} /usr/local/cuda; do
		# /usr/include has its place behind the compiler's own.
		[ ! -d "$folder/include" ] || [ "$folder" = /usr ] ||
		    [ "$folder" = "$root_folder" ] ||
			cuda_flags="$cuda_flags -isystem $folder/include"
	done
	cuda_flags="-DCUBLASAPI= $cuda_flags"
	find_cudnn "${pip:+$pip/nvidia/cudnn}"
}

# one_of ROOT NAME: the library NAME that belongs to the headers in ROOT.
one_of()
{
	for found in "$1"/lib64/lib"$2".so "$1"/lib/lib"$2".so \
	    "$1"/lib/*-linux*/lib"$2".so "$1"/lib64/lib"$2".so.1? \
	    "$1"/lib/lib"$2".so.1?; do
		[ -e "$found" ] || continue
		echo "$found"
		return
	done
	return 1
}

# Headers of pip's package; elsewhere they lie next to CUDA's.
find_cudnn()
{
	[ -f "$1/include/cudnn.h" ] || return 0
	cuda_flags="$cuda_flags -isystem $1/include"
	libraries=$libraries:$1/lib
}

# Those of the flags that this compiler knows.
known()
{
	for flag; do
		echo 'int ac;' | $cc -Werror "$flag" -x c -c -o /dev/null - \
		    2>/dev/null && printf '%s ' "$flag"
	done
}

# compile_all FILE...: each into $objects/FILE.o, as many at a time as there
# are processors.
compile_all()
{
	for file; do
		mkdir -p "$objects/${file%/*}"
	done
	printf '%s\n' "$@" | CC=$cc FLAGS=$product_flags TOP=$root \
	    OBJECTS=$objects xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 4 \
	    sh -c 'for file; do
			$CC $FLAGS -c -o "$OBJECTS/$file.o" "$TOP/$file" ||
			    exit 255
		done' sh
}

# archive LIBRARY FILE...
archive()
{
	library=$build/$1
	shift
	rm -f "$library"
	mkdir -p "${library%/*}"
	(cd "$objects" && ar rcs "$library" "$@")
}

# sources FOLDER: its C and assembler files, relative to the top.
sources()
{
	(cd "$root" && find "$1" -name '*.[cS]' | sort)
}

# objects FOLDER: what became of them.
objects()
{
	find "$objects/$1" -name '*.o' | sort
}

# program OUTPUT FILE... -- LINK...
program()
{
	output=$build/$1
	shift
	mkdir -p "${output%/*}"
	inputs=
	while [ "$1" != -- ]; do
		inputs="$inputs $root/$1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	$cc $product_flags -o "$output" $inputs "$@" \
	    -Wl,-rpath-link,"$libraries"
}

# Whether convolutions are built: as configure decides it.
has_cudnn()
{
	# shellcheck disable=SC2086
	printf '%s\n' '#include <cudnn.h>' \
	    '#if CUDNN_MAJOR != 9 || CUDNN_MINOR < 8' '#error' '#endif' |
	    $cc $cuda_flags -fsyntax-only -x c - 2>/dev/null
}

# The library, the command, the examples and the tests for a GPU, laid out in
# $build as a makefile's build folder is.
build_product()
{
	objects=$build/objects
	without='^shim/\(conv\|graph\)/'
	if has_cudnn; then
		cuda_flags="$cuda_flags -DAC_HAVE_CUDNN" without='^$'
	fi
	version=$(sed -n 's/^AC_INIT(\[libautocast\], \[\(.*\)\])$/\1/p' \
	    "$root/configure.ac")
	# shellcheck disable=SC2089
	product_flags="-std=gnu11 ${CFLAGS:--O2} -D_GNU_SOURCE -I$root $cuda_flags -fPIC
	    -fvisibility=hidden -ftls-model=initial-exec -pthread
	    -DPACKAGE_VERSION=\"$version\" -DSYSCONFDIR=\"/etc\" -DAC_LIBDIR=\"/usr/lib\"
	    -DAC_EMULATOR_DIR=\"/usr/lib/libautocast/emulator\"
	    $(known -ffp-contract=off -fno-tree-loop-distribute-patterns \
	        -mno-outline-atomics)"
	# shellcheck disable=SC2086,SC2090
	product_flags=$(printf '%s ' $product_flags)
	product_files=$(for room in base policy report kernels api scaler shim cmd; do
		sources $room
	done | grep -v "$without")
	# shellcheck disable=SC2086
	compile_all $product_files || return 1
	archive_of base && archive_of report && archive_of policy &&
	    archive_of kernels || return 1
	rooms="$build/report/libreport.a $build/policy/libpolicy.a
	    $build/kernels/libkernels.a $build/base/libbase.a"
	# shellcheck disable=SC2046,SC2086
	$cc -shared -pthread -Wl,-z,relro,-z,defs,-z,noexecstack,-z,lazy \
	    -Wl,--as-needed \
	    -Wl,--version-script="$root/shim/libautocast.map" \
	    -o "$build/libautocast.so" $(objects shim) $(objects api) \
	    $(objects scaler) $rooms || return 1
	# shellcheck disable=SC2046,SC2086
	$cc -pthread -o "$build/autocast" $(objects cmd) $rooms -lm || return 1
	# What fails without these says so itself.
	build_api
	build_examples
	return 0
}

archive_of()
{
	# shellcheck disable=SC2046
	archive "$1/lib$1.a" $(cd "$objects" && find "$1" -name '*.o' | sort)
}

build_examples()
{
	program examples/digits_mlp examples/digits_mlp.c \
	    examples/digits_device.c examples/digits_input.c -- \
	    "$cublas" "$cudart" -lm
	program examples/sgemm_strided examples/sgemm_strided.c -- \
	    "$cublas" "$cudart" -lm
}

# measuring NAME FILE...: a program of this folder into $programs.
measuring()
{
	output=$1
	shift
	inputs=
	for file; do
		inputs="$inputs $here/$file"
	done
	# shellcheck disable=SC2086
	$cc -std=gnu11 ${CFLAGS:--O2} -D_GNU_SOURCE -I"$root" $cuda_flags \
	    -Wno-deprecated-declarations -pthread -o "$programs/$output" $inputs \
	    "$here/gpu.c" "$here/data.c" $link "$cublas" "$cublaslt" \
	    "$cudart" -lm -ldl \
	    -Wl,-rpath-link,"$libraries" || incomplete="$incomplete $output"
}

# of_tests OUTPUT FILE... -- LINK...: a program of tests/ into $programs.
of_tests()
{
	output=$programs/$1
	inputs=
	shift
	while [ "$1" != -- ]; do
		inputs="$inputs $root/tests/$1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	$cc -std=gnu11 ${CFLAGS:--O2} -D_GNU_SOURCE -I"$root" -I"$root/include" \
	    $cuda_flags -w -pthread -o "$output" $inputs "$@" -lm -ldl \
	    -Wl,-rpath-link,"$libraries" ||
	    incomplete="$incomplete ${output##*/}"
}

# What does not compile is missing: its steps fail, the others do not.
build_programs()
{
	link='' incomplete=''
	rooms="$build/kernels/libkernels.a $build/base/libbase.a"
	mkdir -p "$programs/clients" || return 1
	measuring gemm gemm.c cases.c linear.c
	for name in numbers chains calls lt epilogues; do
		measuring $name $name.c
	done
	# shellcheck disable=SC2086
	if echo '#include <cudnn.h>' |
	    $cc $cuda_flags -x c -E - >/dev/null 2>&1; then
		measuring conv conv.c conv_old.c graph.c layers.c probe.c \
		    resnet.c
	fi
	link=$rooms
	measuring kernels kernels.c
	# A makefile keeps the twins apart.
	[ ! -f "$build/kernels/libtwins.a" ] ||
	    rooms="$build/kernels/libtwins.a $rooms"
	# shellcheck disable=SC2086
	of_tests verified_gpu gpu/verified_gpu.c gpu/device.c \
	    unit/kernels/verified_cases.c unit/kernels/verified_families.c \
	    -- $rooms
	# shellcheck disable=SC2086
	of_tests scaler_gpu gpu/scaler_gpu.c gpu/device.c -- $rooms
	build_clients
	[ -z "$incomplete" ]
}

# The programs of clients.txt, as many at a time as there are processors; those
# of cuDNN where it is.
build_clients()
{
	with_cudnn=' convolving bad_convolutions with_products autotune '
	cudnn=$(IFS=:; for folder in $libraries; do
		ls "$folder/libcudnn.so.9" 2>/dev/null
	done | head -n 1)
	at_a_time=0
	names=$(sed -n 's/^[f-] \([a-z_0-9]*\).*/\1/p' "$here/clients.txt" | sort -u)
	for name in $names plugin.so; do
		case "$with_cudnn" in *" $name "*)
			[ -n "$cudnn" ] || continue ;;
		esac
		build_client "$name" &
		at_a_time=$((at_a_time + 1))
		[ $((at_a_time % $(getconf _NPROCESSORS_ONLN))) != 0 ] || wait
	done
	wait
	for name in $names; do
		case "$with_cudnn" in *" $name "*)
			[ -n "$cudnn" ] || continue ;;
		esac
		[ -x "$programs/clients/$name" ] || incomplete="$incomplete $name"
	done
}

# build_client NAME: from its own file, but for these.
build_client()
{
	folder=preload/programs
	files=$folder/${1%.so}.c more=
	case $1 in
	gemm_client)
		files=$(cd "$root/tests" && echo $folder/gemm_*.c) ;;
	corpus_client) files="$files corpus/families.c corpus/product.c" ;;
	regions | scaler_ways)
		more="$build/libautocast-api.so.1 -Wl,-rpath,$build" ;;
	lt_*)
		files="$files $folder/lt_check.c $folder/lt_problem.c"
		more=$cublaslt ;;
	plugin.so) more='-shared -fPIC' ;;
	*) case "$with_cudnn" in *" $1 "*) more=$cudnn ;; esac ;;
	esac
	# shellcheck disable=SC2086
	of_tests clients/$1 $files -- $more "$cublas" "$cudart"
}

# What programs link that use regions or the scaler.
build_api()
{
	# shellcheck disable=SC2086
	$cc -shared -pthread -Wl,-z,nodelete -Wl,-soname,libautocast-api.so.1 \
	    -Wl,--version-script="$root/api/libautocast-api.map" \
	    -o "$build/libautocast-api.so.1" "$objects"/api/*.o \
	    "$objects"/scaler/*.o "$build/kernels/libkernels.a" \
	    "$build/base/libbase.a" -lm
}
