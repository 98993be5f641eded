# SPDX-License-Identifier: Apache-2.0
# entries.sh -- run by qemu.sh next to the binding tests: what is of this machine
# alone. Every register that may carry an argument arrives behind a jump, and a
# debugger finds its way through the frames in between.
. "$(dirname "$0")/binding.sh"
stub cudnn libcublas.so.13 registers.S -DPROVIDER
paths=$work/cudnn
compile registers -rdynamic "$here/registers.c" "$here/registers.S" \
    "$work/cudnn/libcublas.so.13" -ldl
alike 'T32: every register and stack word, linked' 1 "$work/registers"
alike 'T32: every register and stack word, dlsym' 1 "$work/registers" \
    libcublas.so.13

# An older one comes first; the caller is linked to the newer.
stub older libcublas.so.12 registers.S -DPROVIDER -DANSWER=0x4001
after=$work/older/libcublas.so.12
alike 'T17: a counted call goes to the version of who calls' 1 "$work/registers"
after=

# In between the registers are spoilt, and the stack is walked.
compile unwind.so -shared -fPIC "$here/unwind.c" -ldl
before=$work/unwind.so
# walked ARGS...: what the program prints, and the function of it that each walk
# came to.
walked()
{
	bound off "$work/registers" "$@" 2>&1 | uniq | xargs
}
equal 'T32: nothing is lost in between, and a walk up the stack finds the caller' \
    'call call_with as given' "$(walked)"
equal 'T32: the same in dlsym()' 'look-up main call call_with as given' \
    "$(walked libcublas.so.13)"
before=

echo 'int main(void) { return 0; }' >"$work/true.c"
compile true "$work/true.c"
equal 'T23: a program without CUDA: its output and status' '0 ' \
    "$(bound off "$work/true" 2>&1; echo "$? ")"
check 'T23: a program without CUDA leaves no statistics' \
    "$(ls -d "$AUTOCAST_STATE" 2>/dev/null)"
plan
