#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A device with no memory left for a cuBLAS handle of ours, which takes 32 MiB of
# an H200: the products are the program's own, for that reason; and pools that
# keep all they ever had.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/gemm_client
cast='gemm -> fp16 profit=off guard=off workspace=16Mi'

# product POLICY MIB: ten products on a device of so many MiB, and the reasons of
# those that were kept.
product()
{
	rm -rf "$AUTOCAST_STATE"
	AUTOCAST_EMU_MEMORY=$(($2 << 20)) under "$1" "$client" sgemm n t 96 80 \
	    256 0 0 0 1 1 0 normal 1 - reference repeat=10 stream 2>&1 |
	    grep -o 'status=[0-9]*'
	echo "recast $(total totals.recast_calls)" \
	    "$(kept_reasons out-of-memory refused unsupported workspace)"
}
equal 'a handle of ours fits' 'status=0
recast 10 ' "$(product "$cast" 96)"
equal 'there is no room for one' 'status=0
recast 0 out-of-memory' "$(product "$cast" 60)"
equal 'under the guard' 'status=0
recast 0 out-of-memory' "$(product 'gemm -> fp16 profit=off guard=on workspace=16Mi' 60)"
equal 'a workspace that holds nothing, nor what a check writes down' 'status=0
recast 0 workspace' "$(product 'gemm -> fp16 profit=off guard=on workspace=1Ki' 96)"
equal 'nor for a kernel of ours, when it is loaded' 'status=0
recast 0 unsupported' "$(AUTOCAST_EMU_FAIL=functionLoad:0:2 product "$cast" 96)"
plan
