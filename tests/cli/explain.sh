#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# explain.sh -- an operation in words, and a site of the last run.
. "$(dirname "$0")/transcript.sh"
eval "$(declare -f normal | sed '1s/normal/usual/')"
cut=
normal()
{
	usual | sed -E -e 's/^(run @[0-9]+), .*/\1, DATE/' -e "$cut"
}

show explain
show explain gemm.single m=256 n=64 k=1024 ta=n sm=90 asked=fp32
show explain gemm m=4Ki n=4Ki k=4Ki --policy fp16
show explain gemm.strided m=64 n=64 k=64 batch=8 tb=T -e 'gemm.strided batch>=8 -> keep'
show explain gemm.single m=4096 n=4096 k=4096 sm=75
show explain gemm.single m=4096 n=4096 k=4096 sm=9.0
show explain gemm.single m=4096 n=4096 k=4096 asked=pedantic
show explain gemm.single m=4096 n=4096 k=4096 solver=yes
show explain gemm m=2Ki n=2Ki k=2Ki gpu=h200
show explain gemm m=2Ki n=2Ki k=2Ki gpu=a100 asked=tf32
show explain gemm.batched m=1Ki n=1Ki k=64 batch=96 gpu="rtx 4090"
show explain gemm m=8 n=4Ki k=4Ki gpu=H100 -e 'gemm -> fp16 reproducible=on'
show explain gemm m=1Ki n=1Ki k=1Ki gpu='NVIDIA A10' sm=86 type=c32
show explain gemm.lt m=3072 n=4096 k=768 ta=t epilogue=gelu_bias gpu=h200
show explain gemm.lt m=3072 n=4096 k=768 gpu=h200 \
    -e 'gemm epilogue=gelu*,dgelu* -> keep'
show explain gemm.lt m=3072 n=4096 k=768 epilogue=dgelu_bgrad --policy \
    'gemm epilogue=gelu*,dgelu* -> fp16'
show explain gemm.lt m=3072 n=4096 k=768 epilogue=bgrada --policy fp16
show explain gemm.lt m=3072 n=4096 k=768 epilogue=other
show explain gemm.lt m=3072 n=4096 k=768 type=c32 --policy tf32
show explain gemm.lt m=3072 n=4096 k=768 epilogue=gelu_bais
show explain gemm.lt m=3072 n=4096 k=768 epilogue=zzz
show explain gemm.single m=3072 n=4096 k=768 epilogue=gelu
show explain conv.fprop cin=64 cout=64 image=28x28 filter=3x3 epilogue=gelu
show explain conv.fprop cin=64 cout=64 image=28x28 filter=3x3 epilogue=fused
mkdir -p "$AUTOCAST_STATE/rates"
rates=$AUTOCAST_STATE/rates/NVIDIA_L40S-13000-cublas-13.1
printf '%s\n' 'version = 1' 'gpu = NVIDIA L40S' 'sm = 89' 'driver = 13000' \
    'library = cublas-13.1' 'date = 2026-11-21' \
    'fp16 = 2e14 of 15 spread 0.01' >"$rates"
show explain gemm m=2Ki n=2Ki k=2Ki gpu=l40s
echo 'fp16 = 1' >>"$rates"
show explain gemm m=2Ki n=2Ki k=2Ki gpu=l40s
rm -r "$AUTOCAST_STATE"
show explain conv.fprop filter=3x3 cin=64 --policy=tf32
show explain conv.fprop images=256 cin=256 image=14x14 cout=256 filter=3 \
    pad=1 layout=nhwc asked=tf32 gpu=h200 --policy amp
show explain conv.wgrad images=32 cin=64 image=56x56 cout=128 filter=3x3 \
    stride=2 pad=1 -e 'conv -> fp16,tf32'
show explain conv.fprop images=256 cin=256 image=14x14 cout=256 filter=3 \
    pad=1 asked=fp32 fn=cudnnBackendExecute gpu=h200
in_tf32='image=56x56 cin=64 cout=64 filter=3x3 pad=1 asked=tf32'
# shellcheck disable=SC2086
{
show explain conv.dgrad $in_tf32
show explain conv.dgrad $in_tf32 -e 'conv.dgrad -> tf32,fp16 profit=off'
show explain conv.dgrad $in_tf32 -e 'conv.dgrad -> fp16 guard=strict profit=off'
}
show explain conv.fprop cin=64 image=56x56 filter=3x3
show explain conv.fprop cin=64 cout=64 image=2x2 filter=3x3
show explain conv.fprop cin=64 cout=64 image=2x2 filter=1 groups=3
conv='conv.fprop cin=64 cout=64 image=28x28 filter=3x3'
for word in images=1.5 images=1e1 images=2x2 images=0 cin=4Ki image= \
    image=28x28x28x28 filter=3x filter=70000 filter=3x3x3 stride=0 pad=-1 \
    'pad=1 1' m=1 batch=2 spatial=4 flops=1e9 intensity=2 ta=n tb=t groups=3
do
	# shellcheck disable=SC2086
	show explain $conv "$word"
done
show explain conv.fprop cin=64 cout=96 image=28x28 filter=3x3 groups=64
show explain conv.fprop cin=1.5
show explain conv.fprop filter=3.5x3
show explain conv.fprop images=32 cin=64
show explain gemm m=1 n=1 k=1 image=2x2
show explain gemm m=2Ki n=2Ki k=2Ki gpu=b300
show explain gemm m=2Ki n=2Ki k=2Ki gpu=b300 sm=100 --policy tf32
in_loss='gemm m=2Ki n=2Ki k=2Ki gpu=h200 region=loss'
# shellcheck disable=SC2086
{
show explain $in_loss region-enabled=off --policy 'gemm -> fp16'
show explain $in_loss region-enabled=off --policy 'gemm region=loss -> tf32'
show explain $in_loss region-rung=bf16,tf32 --policy 'gemm -> fp16 profit=off'
show explain $in_loss region-rung=auto --policy 'gemm -> keep'
show explain $in_loss region-rung=fp8
show explain $in_loss region-enabled=maybe
}
show explain gemm.singel m=1 n=1 k=1
show explain frobnicate
show explain gemm.single
show explain gemm.single m=1 n=1
show explain gemm.single m
show explain gemm.single m=many n=1 k=1
show explain gemm.single m=1e40 n=1 k=1
show explain gemm.single m= n=1 k=1
show explain gemm.single m=0 n=1 k=1
show explain gemm.single m=1.5 n=1 k=1
show explain gemm 4096x2048x1024
show explain 4096x2048x1024
show explain m=4096 n=2048 k=1024
show explain conv.fprop image=28 cin=64 cout=64 filter=3
show explain gemm.single mm=1
show explain gemm.single zzz=1
show explain gemm.single m=1 n=1 k=1 ta=x
show explain gemm.single m=1 n=1 k=1 gpu=
show explain cublasSgemm_v2 m=1 n=1 k=1
show explain gemm.single m=1 n=1 k=1 --policy 'gemm -> fp61'
show explain gemm.single m=1 n=1 k=1 --policy nowhere
show explain gemm.single m=1 n=1 k=1 -e
show explain --polcy off gemm.single
show explain 00000000
"$counting"
id=$("$autocast" report | sed -n 's/^  \([0-9a-f]*\) *gemm\.nt .*/\1/p')
show explain "$id"
show explain "$id" --policy off
show explain "$id" m=1
show explain 00000000
id=$("$autocast" report | sed -n 's/^  \([0-9a-f]*\) *gemm\.nt .*/\1/p')
"$counting" 0 train+1a2b all
equal '@1 is the last run' "$("$autocast" explain @1 "$id")" "$("$autocast" explain "$id")"
show explain @2 "$id" --policy off
equal 'a run and a site in either order' "$("$autocast" explain "$id" @2)" "$("$autocast" explain @2 "$id")"
show explain @2 00000000
show explain @3 "$id"
show explain @2
show explain @2 "$id" m=1
show explain @2 @1
# What decides in words decides here, too: no more than the operation is shown.
cut='/^  amp:3 /,/^\[/{/^\[/!d}'
first=$id
id=$("$autocast" report | sed -n 's/^  \([0-9a-f]*\) *conv\.dgrad .*/\1/p')
show explain "$id"
id=$("$autocast" report | sed -n 's/^  \([0-9a-f]*\) *conv\.fprop .*/\1/p')
show explain "$id" --policy amp
for n in 1 2 3; do
	id=$("$autocast" report |
	    sed -n 's/^  \([0-9a-f]*\) *gemm\.lt\..*/\1/p' | sed -n ${n}p)
	show explain "$id" --policy amp
done
"$counting" 0 net+1 all
show explain "$first"
show explain @1 "$first"
shown
plan
