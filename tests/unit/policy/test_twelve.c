/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_twelve.c -- the twelve policies the language was
 * designed with, and calls of the programs they are for. */
#include "with_policy.h"

CASE(test_darknet)
{
	struct ac_policy *policy = parse_good(
	    "set own=1000\n"
	    "conv cin<=4 -> keep               # RGB input layer\n"
	    "conv cout=255,18..75 -> keep      # detection heads\n"
	    "gemm min(m,n)<=16 -> keep\n"
	    "conv.fprop,conv.dgrad,gemm -> fp16,tf32 tol=1e-3\n"
	    "conv.wgrad -> tf32\n");
	struct ac_op op = product(AC_OP_CONV_FPROP, 43264, 32, 27, 90);

	ac_op_set(&op, AC_Q_CIN, 3);
	ac_op_set(&op, AC_Q_COUT, 32);
	assert_int_equal(deciding_line(policy, &op), 2);
	ac_op_set(&op, AC_Q_CIN, 1024);
	ac_op_set(&op, AC_Q_COUT, 255);
	assert_int_equal(deciding_line(policy, &op), 3);
	ac_op_set(&op, AC_Q_COUT, 76);
	assert_int_equal(deciding_line(policy, &op), 5);
	op.operation = AC_OP_CONV_WGRAD;
	assert_int_equal(deciding_line(policy, &op), 6);
	op = product(AC_OP_GEMM_SINGLE, 16, 1000, 1024, 90);
	assert_int_equal(deciding_line(policy, &op), 4);
	ac_policy_destroy(policy);
}

CASE(test_llm)
{
	struct ac_policy *policy = parse_good(
	    "gemm max(m,n,k)=50257..50304 -> keep        # LM head\n"
	    "gemm.strided -> tf32                        # QK^T, PV\n"
	    "gemm -> fp16,tf32\n");
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 50304, 4096, 768, 90);

	assert_int_equal(deciding_line(policy, &op), 1);
	op = product(AC_OP_GEMM_SINGLE, 768, 4096, 50304, 90);
	assert_int_equal(deciding_line(policy, &op), 1);
	op = product(AC_OP_GEMM_STRIDED, 64, 1024, 1024, 90);
	ac_op_set_product(&op, 64, 1024, 1024, 96);
	assert_int_equal(deciding_line(policy, &op), 2);
	assert_string_equal(decided(policy, &op), "tf32 library");
	op = product(AC_OP_GEMM_SINGLE, 3072, 4096, 768, 90);
	assert_int_equal(deciding_line(policy, &op), 3);
	op.operation = AC_OP_CONV_FPROP;
	assert_int_equal(deciding_line(policy, &op), 0);
	ac_policy_destroy(policy);
}

CASE(test_caffe_on_t4)
{
	struct ac_policy *policy = parse_good(
	    "[sm=75]\n"
	    "gemm,conv -> fp16 tol=2e-3\n"
	    "[sm>=80 sm!=100..103]\n"
	    "gemm,conv -> fp16,tf32\n"
	    "[]\n"
	    "* -> keep\n");
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 75);

	assert_string_equal(decided(policy, &op), "fp16 cast");
	ac_op_set(&op, AC_Q_SM, 90);
	assert_int_equal(deciding_line(policy, &op), 4);
	ac_op_set(&op, AC_Q_SM, 100);
	assert_int_equal(deciding_line(policy, &op), 6);
	ac_policy_destroy(policy);
}

CASE(test_tuned)
{
	struct ac_policy *policy = parse_good(
	    "version 1\n"
	    "site qkv=9c41d2e0\n"
	    "[gpu=\"NVIDIA H200*\" lib=cublas-13.*]\n"
	    "gemm site=qkv        -> fp16 tactic=cast  # 3.21x\n"
	    "gemm site=77aa01b3   -> keep              # check failed\n"
	    "[]\n"
	    "otherwise off\n");
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);

	op.fact[AC_FACT_GPU] = "NVIDIA H200";
	op.fact[AC_FACT_LIB] = "cublas-13.1";
	op.fact[AC_FACT_SITE] = "9c41d2e0";
	assert_string_equal(decided(policy, &op), "fp16 cast");
	op.fact[AC_FACT_SITE] = "77aa01b3";
	assert_string_equal(decided(policy, &op), "keep: rule");
	op.fact[AC_FACT_SITE] = "11111111";
	assert_string_equal(decided(policy, &op), "keep: rule");
	ac_policy_destroy(policy);
}

static const char *const others[] = {
	"conv.fprop filter=3x3 stride=1 cin>=64 -> fp16\n"
	"conv.fprop filter=1x1 cin>=256 -> fp16,tf32\n"
	"conv -> tf32\n"
	"otherwise amp\n",
	"* caller=libcusolver.so*,libmagma.so*,libcusparse.so* -> keep\n"
	"gemm solver=yes -> tf32 guard=strict\n"
	"otherwise off\n",
	"gemm max(m,n)<=32 -> fp16 own=0\n"
	"gemm -> fp16,tf32 own=0\n"
	"* -> keep\n",
	"set guard=on\n"
	"[rank=0]\n"
	"gemm,conv -> fp16,tf32 guard=strict\n"
	"[]\n"
	"gemm,conv -> fp16,tf32\n",
	"[caller=*faiss*]\n"
	"gemm -> tf32 tol=5e-4\n"
	"[]\n"
	"otherwise amp\n",
	"gemm asked=tf32 -> fp16,tf32\n"
	"gemm fn=cublasStrsm* -> keep\n"
	"gemm.batched,gemm.strided asked=fp32 -> keep ; gemm -> fp16\n",
	"set workspace=64Mi\n"
	"gemm.batched batch>=64 k=256..1024 -> fp16 tactic=cast\n"
	"gemm flops<2G -> keep\n"
	"otherwise tf32\n",
	"version 1\n"
	"* program=lmp*,gmx*,\"vasp std\" -> keep\n"
	"[program=darknet*,caffe*,train_gpt2*]\n"
	"gemm,conv -> fp16,tf32 tol=1e-3\n"
	"[]\n"
	"otherwise off\n",
	"gemm -> fp16 profit=off guard=off\n* -> keep\n",
	"gemm -> bf16 profit=off guard=off\n* -> keep\n",
};

CASE(test_others)
{
	size_t i;

	for (i = 0; i < COUNT(others); i++)
		ac_policy_destroy(parse_good(others[i]));
}

CASES_RUN(NULL, NULL)
