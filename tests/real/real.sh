# SPDX-License-Identifier: Apache-2.0
# real.sh -- sourced by the tests against NVIDIA's own libraries, which answer
# without a GPU: where they are, and what is skipped when they are not.
. "$(dirname "$0")/../preload/preload.sh"
here=$root/tests/real/programs
[ -f "$library" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"

# The folders of the headers and of the libraries.
cuda_include='' cuda_lib=''
for _folder in $(sed -E 's/-(isystem|I) *//g' <<<"${CUDA_CPPFLAGS:-}") \
    "${CUDA_HOME:-/nowhere}/include"; do
	[ -n "$cuda_include" ] || [ ! -f "$_folder/cublas_api.h" ] ||
	    cuda_include=$_folder
done
for _folder in "${CUDA_HOME:-/nowhere}/lib64" "${cuda_include:-/nowhere}/../lib64" \
    "${cuda_include:-/nowhere}/../lib" \
    $(ldconfig -p 2>/dev/null | sed -n 's,.*libcublas\.so\.[0-9]* .*=> \(.*\)/[^/]*,\1,p'); do
	[ -n "$cuda_lib" ] || [ -z "$(ls "$_folder"/libcublas.so.[0-9]* 2>/dev/null)" ] ||
	    cuda_lib=$(cd "$_folder" && pwd -P)
done
[ -n "$cuda_include" ] || skip_all 'no CUDA headers'
[ -n "$cuda_lib" ] || skip_all "NVIDIA's libcublas is not installed"

# soname LIBRARY: as installed, libcublas.so.13; nothing if it is not.
soname()
{
	_file=$(find "$cuda_lib" -maxdepth 1 -name "$1.so.*" -size +64k | sort |
	    head -n 1)
	[ -z "$_file" ] || readelf -W -d "$_file" |
	    sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}

# need LIBRARY...: all of them, or nothing of this script.
need()
{
	for _library; do
		[ -n "$(soname "$_library")" ] ||
		    skip_all "$_library is not installed in $cuda_lib"
	done
}

# alone COMMAND...; with POLICY COMMAND...: without the library, and with it.
# One run, however many processes.
alone()
{
	LD_LIBRARY_PATH=$cuda_lib timeout 240 "$@"
}
with()
{
	_policy=$1
	shift
	rm -rf "$AUTOCAST_STATE"
	AUTOCAST_RUN=real LD_LIBRARY_PATH=$cuda_lib AUTOCAST_POLICY=$_policy \
	    LD_PRELOAD=$preload timeout 240 "$@"
}

# counts: every symbol that was counted, and how often.
counts()
{
	query '"\n".join("%s %d" % (n, sum(s["calls"] for s in
	    sites + report["markers"] if s["symbol"] == n)) for n in
	    sorted({s["symbol"] for s in sites + report["markers"]}))'
}
