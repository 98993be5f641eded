#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# NVIDIA's own cuDNN without a GPU: wrong calls are answered with the library as
# without; so are eight threads, and every way to reach it; and where a plan
# cannot be loaded because the driver is a stand-in.
. "$(dirname "$0")/cudnn.sh"
for name in conv_graph conv_frontend conv_bad conv_threads; do
	client $name
done
need_device
part=libcudnn_graph.so.9
client conv_frontend -DLINKED "$cuda_lib/$cudnn"
mv "$work/linked_conv_frontend" "$work/thin"
[ ! -f "$cuda_lib/$part" ] || client conv_frontend -DLINKED "$cuda_lib/$part"

# ---- wrong calls -------------------------------------------------------------
alone "$work/conv_bad" "$cudnn" "$devices/sm90.json" >"$work/alone" 2>/dev/null
equal 'wrong calls: it ends' 0 $?
check 'control: there are answers of every kind' \
    "$(grep -q 'get 0 ' "$work/alone" && grep -q ': get 2' "$work/alone" &&
        grep -q 'signal 11' "$work/alone" || tail "$work/alone")"
for policy in off "$all_fp16"; do
	with "$policy" "$work/conv_bad" "$cudnn" "$devices/sm90.json" \
	    >"$work/with" 2>/dev/null
	check "wrong calls are answered the same, '$policy'" \
	    "$(diff "$work/alone" "$work/with" | head -n 20)"
done

# ---- threads, and descriptors where others were ------------------------------
threads()
{
	"$1" "${@:2}" "$work/conv_threads" "$local_cudnn" "$devices/sm90.json" \
	    8 "$count" 2>&1
}
for count in 1 8; do
	threads alone >"$work/threads.$count"
	equal "$count threads: no round differs" 8 \
	    "$(grep -c ' [0-9]*:.* others 0$' "$work/threads.$count")"
	threads with "$all_fp16" >"$work/threads.with.$count"
	equal "$count threads: no round differs, with the library" 8 \
	    "$(grep -c ' [0-9]*:.* others 0$' "$work/threads.with.$count")"
done
same 'eight threads as one' "$work/threads.1" "$work/threads.8"
same 'eight threads as one, with the library' "$work/threads.with.1" \
    "$work/threads.with.8"
same 'eight threads, with the library as without' "$work/threads.1" \
    "$work/threads.with.8"

# ---- every way to reach it ---------------------------------------------------
ways="thin=linked linked_conv_frontend=linked conv_frontend=$local_cudnn
conv_frontend=$cudnn:global conv_frontend=$part:local"
alone "$work/conv_frontend" "$local_cudnn" "$devices/sm90.json" >"$work/alone"
with "$all_fp16" "$work/conv_frontend" "$local_cudnn" \
    "$devices/sm90.json" >"$work/with"
for way in $ways; do
	program=$work/${way%%=*}
	if [ ! -x "$program" ] || [ ! -f "$cuda_lib/$part" ]; then
		skip "$way" "$part is not installed in $cuda_lib"
		continue
	fi
	alone "$program" "${way#*=}" "$devices/sm90.json" >"$work/other" 2>&1
	same "${way/=/, }: answers" "$work/alone" "$work/other"
	with "$all_fp16" "$program" "${way#*=}" "$devices/sm90.json" \
	    >"$work/other" 2>&1
	case $way in
	*"$part"* | linked_*) # a part alone may be left alone
		check "${way/=/, }: answers, with the library" \
		    "$(cmp -s "$work/with" "$work/other" ||
		        diff "$work/alone" "$work/other")"
		;;
	*)
		same "${way/=/, }: answers, with the library" "$work/with" \
		    "$work/other"
		;;
	esac
done

# ---- a driver that only looks like one ---------------------------------------
stub=$cuda_lib/stubs/libcuda.so
if [ -f "$stub" ]; then
	mkdir "$work/stub"
	ln -s "$stub" "$work/stub/libcuda.so.1"
	stubbed()
	{
		"$@" env LD_LIBRARY_PATH="$cuda_lib:$work/stub" \
		    "$work/conv_graph" "$local_cudnn" "$devices/sm80.json" \
		    fusion=relu layout=nhwc c=64 k=64 ask=2 2>&1
	}
	stubbed alone >"$work/alone"
	check 'control: a plan that is compiled now cannot be loaded' \
	    "$(grep -q ' plan=5001$' "$work/alone" || cat "$work/alone")"
	stubbed with "$all_fp16" >"$work/with"
	same 'nor with the library' "$work/alone" "$work/with"
else
	skip 'a driver that only looks like one' "there is no $stub"
fi
plan
