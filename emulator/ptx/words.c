/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/words.c -- the words of PTX that the interpreter knows. */
#include "emulator/ptx/parse.h"

const struct ptx_word ptx_type_words[] = {
	{ "pred", T_PRED }, { "b8", T_B8 }, { "u8", T_U8 }, { "s8", T_S8 },
	{ "b16", T_B16 }, { "u16", T_U16 }, { "s16", T_S16 },
	{ "f16", T_F16 }, { "bf16", T_BF16 }, { "b32", T_B32 },
	{ "u32", T_U32 }, { "s32", T_S32 }, { "f32", T_F32 },
	{ "f16x2", T_F16X2 }, { "bf16x2", T_BF16X2 }, { "b64", T_B64 },
	{ "u64", T_U64 }, { "s64", T_S64 }, { "f64", T_F64 },
	{ "b128", T_B128 }, { "tf32", T_TF32 }, { "u16x2", T_U16X2 },
	{ "s16x2", T_S16X2 }, { NULL, 0 }
};
const struct ptx_word ptx_space_words[] = {
	{ "global", SPACE_GLOBAL }, { "const", SPACE_CONST },
	{ "shared", SPACE_SHARED }, { "shared::cta", SPACE_SHARED },
	{ "shared::cluster", SPACE_SHARED }, /* of one block */
	{ "local", SPACE_LOCAL }, { "param", SPACE_PARAM },
	{ "param::entry", SPACE_PARAM }, { "param::func", SPACE_ARGUMENT },
	{ NULL, 0 }
};
const struct ptx_word ptx_round_words[] = {
	{ "rn", ROUND_RN }, { "rz", ROUND_RZ }, { "rm", ROUND_RM },
	{ "rp", ROUND_RP }, { "rni", ROUND_RNI }, { "rzi", ROUND_RZI },
	{ "rmi", ROUND_RMI }, { "rpi", ROUND_RPI }, { "rna", ROUND_RNA },
	{ NULL, 0 }
};
const struct ptx_word ptx_compare_words[] = {
	{ "eq", CMP_EQ }, { "ne", CMP_NE }, { "lt", CMP_LT }, { "le", CMP_LE },
	{ "gt", CMP_GT }, { "ge", CMP_GE }, { "lo", CMP_LT }, { "ls", CMP_LE },
	{ "hi", CMP_GT }, { "hs", CMP_GE }, { "equ", CMP_EQU },
	{ "neu", CMP_NEU }, { "ltu", CMP_LTU }, { "leu", CMP_LEU },
	{ "gtu", CMP_GTU }, { "geu", CMP_GEU }, { "num", CMP_NUM },
	{ "nan", CMP_NAN }, { NULL, 0 }
};
const struct ptx_word ptx_mode_words[] = {
	{ "lo", MODE_LO }, { "hi", MODE_HI }, { "wide", MODE_WIDE },
	{ "up", MODE_UP }, { "down", MODE_DOWN }, { "bfly", MODE_BFLY },
	{ "idx", MODE_IDX }, { "all", MODE_ALL }, { "any", MODE_ANY },
	{ "uni", MODE_UNI }, { "ballot", MODE_BALLOT }, { "red", MODE_RED },
	{ "arrive", MODE_ARRIVE }, { "warp", MODE_WARP }, { "l", MODE_L },
	{ "r", MODE_R }, { "clamp", MODE_CLAMP }, { "wrap", MODE_WRAP },
	{ "add", MODE_ADD }, { "min", MODE_MIN }, { "max", MODE_MAX },
	{ "inc", MODE_INC }, { "dec", MODE_DEC }, { "and", MODE_AND },
	{ "or", MODE_OR }, { "xor", MODE_XOR }, { "exch", MODE_EXCH },
	{ "cas", MODE_CAS }, { "popc", MODE_POPC }, { "finite", MODE_FINITE },
	{ "infinite", MODE_INFINITE }, { "number", MODE_NUMBER },
	{ "notanumber", MODE_NOTANUMBER }, { "normal", MODE_NORMAL },
	{ "subnormal", MODE_SUBNORMAL }, { "f4e", MODE_F4E },
	{ "b4e", MODE_B4E }, { "rc8", MODE_RC8 }, { "ecl", MODE_ECL },
	{ "ecr", MODE_ECR }, { "rc16", MODE_RC16 }, { "to", MODE_TO },
	{ "init", MODE_INIT }, { "inval", MODE_INVAL },
	{ "arrive_drop", MODE_DROP }, { "expect_tx", MODE_EXPECT },
	{ "complete_tx", MODE_COMPLETE }, { "test_wait", MODE_TEST },
	{ "try_wait", MODE_TRY }, { "pending_count", MODE_PENDING },
	{ "parity", MODE_PARITY }, { "noinc", MODE_NOINC },
	{ "noComplete", MODE_NOCOMPLETE }, { "commit_group", MODE_COMMIT },
	{ "wait_group", MODE_WAIT }, { "wait_all", MODE_WAIT_ALL },
	{ "mbarrier", MODE_BARRIER }, { "load", MODE_LOAD },
	{ "store", MODE_STORE }, { "mma", MODE_MMA },
	{ NULL, 0 }
};
const struct ptx_word ptx_flag_words[] = {
	{ "ftz", FLAG_FTZ }, { "sat", FLAG_SAT }, { "approx", FLAG_APPROX },
	{ "sync", FLAG_SYNC }, { "aligned", FLAG_ALIGNED },
	{ "volatile", FLAG_VOLATILE | FLAG_POLL },
	{ "acquire", FLAG_POLL }, { "relaxed", FLAG_POLL },
	{ "release", FLAG_RELEASE }, { "cc", FLAG_CC },
	{ "shiftamt", FLAG_SHIFTAMT }, { "full", FLAG_FULL },
	{ "NaN", FLAG_NAN }, { "relu", FLAG_RELU }, { "trans", FLAG_TRANS },
	{ "L2::cache_hint", FLAG_HINT }, { "satfinite", FLAG_FINITE },
	{ NULL, 0 }
};
/* Atomics and fences have the strongest memory order there is. */
static const char *const idle_words[] = {
	"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
	"acq_rel", "sc", "gpu", "sys", "cta", "gl", "weak", "mmio",
	"L1::evict_last", "L1::evict_first", "L1::no_allocate",
	"L1::evict_normal", "L1::evict_unchanged", "L2::64B", "L2::128B",
	"L2::256B", "L2::evict_last", "L2::evict_first", "L2::evict_normal",
	"L1", "L2", "noftz", "cluster", "proxy", "alias", "async",
	"generic", "launch_dependents", "wait", NULL
};
const struct ptx_word ptx_op_words[] = {
#define X(name) { #name, OP_##name },
	PTX_OPS(X)
#undef X
	{ NULL, 0 }
};
const struct ptx_word ptx_special_words[] = {
	{ "%tid.x", S_TID_X }, { "%tid.y", S_TID_Y }, { "%tid.z", S_TID_Z },
	{ "%ntid.x", S_NTID_X }, { "%ntid.y", S_NTID_Y },
	{ "%ntid.z", S_NTID_Z }, { "%ctaid.x", S_CTAID_X },
	{ "%ctaid.y", S_CTAID_Y }, { "%ctaid.z", S_CTAID_Z },
	{ "%nctaid.x", S_NCTAID_X }, { "%nctaid.y", S_NCTAID_Y },
	{ "%nctaid.z", S_NCTAID_Z }, { "%laneid", S_LANEID },
	{ "%warpid", S_WARPID }, { "%nwarpid", S_NWARPID },
	{ "%smid", S_SMID }, { "%nsmid", S_NSMID }, { "%gridid", S_GRIDID },
	{ "%lanemask_eq", S_LANEMASK_EQ }, { "%lanemask_lt", S_LANEMASK_LT },
	{ "%lanemask_le", S_LANEMASK_LE }, { "%lanemask_gt", S_LANEMASK_GT },
	{ "%lanemask_ge", S_LANEMASK_GE }, { "WARP_SZ", S_WARPSZ },
	{ "%dynamic_smem_size", S_DYNAMIC_SMEM },
	{ "%total_smem_size", S_TOTAL_SMEM },
	{ "%envreg0", S_ZERO }, { "%envreg1", S_ENVREG1 },
	{ "%envreg2", S_ENVREG2 },
	/* A cluster is one block. */
	{ "%cluster_ctaid.x", S_ZERO }, { "%cluster_ctaid.y", S_ZERO },
	{ "%cluster_ctaid.z", S_ZERO }, { "%cluster_ctarank", S_ZERO },
	{ "%cluster_nctaid.x", S_ONE }, { "%cluster_nctaid.y", S_ONE },
	{ "%cluster_nctaid.z", S_ONE }, { "%cluster_nctarank", S_ONE },
	{ "%clusterid.x", S_CTAID_X }, { "%clusterid.y", S_CTAID_Y },
	{ "%clusterid.z", S_CTAID_Z }, { "%nclusterid.x", S_NCTAID_X },
	{ "%nclusterid.y", S_NCTAID_Y }, { "%nclusterid.z", S_NCTAID_Z },
	{ "%clock", S_CLOCK },
	{ "%clock_hi", S_ZERO }, { "%clock64", S_CLOCK64 },
	{ "%globaltimer", S_GLOBALTIMER }, { NULL, 0 }
};

int
ptx_find(const struct ptx_word *words, const char *name)
{
	for (; words->name; words++)
		if (!strcmp(words->name, name))
			return words->value;
	return -1;
}

bool
ptx_is_idle(const char *name)
{
	for (size_t i = 0; idle_words[i]; i++)
		if (!strcmp(idle_words[i], name))
			return true;
	return false;
}
