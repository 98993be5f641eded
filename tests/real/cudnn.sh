# SPDX-License-Identifier: Apache-2.0
# cudnn.sh -- sourced by the tests of convolutions against NVIDIA's own cuDNN,
# which builds graphs and plans without a GPU from a description of one: the
# files under devices/, written by hand from the published figures, but for the
# one of an H100, which is cuDNN's own.
. "$(dirname "$0")/real.sh"
cudnn=$(soname libcudnn)
devices=$root/tests/real/devices
[ "$cudnn" = libcudnn.so.9 ] || skip_all "libcudnn.so.9 is not installed in $cuda_lib"
[ -f "$cuda_include/cudnn.h" ] || skip_all "no cudnn.h in $cuda_include"
local_cudnn=$cudnn:local

# client NAME [FLAG...]: built into $work; with -DLINKED, name it another way.
client()
{
	_name=$1
	shift
	${CC:-cc} -isystem "$cuda_include" -D_GNU_SOURCE -O1 -w -pthread \
	    -o "$work/${1:+linked_}$_name" "$here/$_name.c" "$@" \
	    -Wl,-rpath-link,"$cuda_lib" -ldl || exit 99
}

# need_device: cuDNN can be told of a device that is not there.
need_device()
{
	alone "$work/conv_graph" "$local_cudnn" "$devices/sm90.json" ask=0 \
	    plans=0 >"$work/first" 2>&1
	[ $? != 77 ] || skip_all 'this libcudnn.so.9 is older than 9.11'
}

all_fp16='conv.fprop,conv.dgrad,conv.wgrad -> fp16 guard=off profit=off'
