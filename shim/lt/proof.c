/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/proof.c -- finds where descriptors store their attributes. */
#include "shim/lt/proof.h"

#include <string.h>

enum {
	ROOM = 512,                  /* bytes: more than a descriptor has */
	LAYOUT_ATTRIBUTES = 9,
	LAYOUT_BYTES = AC_LT_LAYOUT_WORDS * 8,
	HEAD_BYTES = AC_LT_HEAD_WORDS * 8,
	NOWHERE = -1
};

enum { FLIPPED = 0xff, ROUNDS = 8 };

union room {
	cublasLtMatmulDescOpaque_t operation;
	cublasLtMatrixLayoutOpaque_t layout;
	unsigned char bytes[ROOM];
};

struct answer { /* without gaps: compared whole */
	int64_t status;
	_Alignas(int64_t) unsigned char value[AC_LT_VALUE];
};

/* Operations, or layouts: how to ask for each attribute, and where it is. */
struct subject {
	const struct ac_lt_library *library;
	bool is_layout;
	unsigned count;
	uint8_t numbers[AC_LT_ATTRIBUTES], bytes[AC_LT_ATTRIBUTES];
	union room room;
	struct answer answers[AC_LT_ATTRIBUTES]; /* of room as it was made */
	int at[AC_LT_ATTRIBUTES];    /* where its first byte is, or NOWHERE */
	bool is_version[ROOM];       /* whether it shows the version */
};

static struct answer
ask(struct subject *subject, unsigned i)
{
	struct answer answer = { CUBLAS_STATUS_SUCCESS, { 0 } };
	size_t written;

	answer.status = subject->is_layout ?
	    subject->library->get_layout(&subject->room.layout,
	    (cublasLtMatrixLayoutAttribute_t)subject->numbers[i],
	    answer.value, subject->bytes[i], &written) :
	    subject->library->get(&subject->room.operation,
	    (cublasLtMatmulDescAttributes_t)subject->numbers[i],
	    answer.value, subject->bytes[i], &written);
	return answer;
}

/* What flipping byte `at` did to attribute `i`, which has its first byte where
 * that is seen first; false: to its value, but it is elsewhere. */
static bool
compare(struct subject *subject, unsigned i, unsigned at)
{
	const struct answer *before = &subject->answers[i];
	const struct answer now = ask(subject, i);
	unsigned changed = 0;

	if (now.status != before->status) {
		subject->is_version[at] = true;
		return true;
	}
	while (changed < subject->bytes[i]
	    && now.value[changed] == before->value[changed])
		changed++;
	if (now.status || changed == subject->bytes[i])
		return true;
	if (subject->at[i] == NOWHERE)
		subject->at[i] = (int)at - (int)changed;
	return subject->at[i] == (int)at - (int)changed;
}

/* Whether each attribute is a copy of its bytes whatever all bytes are, but
 * those that tell what there is: a turn of them, or a dependence on two, looks
 * right when one byte is flipped. */
static bool
are_copies(struct subject *subject, unsigned extent)
{
	const union room made = subject->room;
	uint64_t seed = 1;
	bool is_so = true;

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned at = 0; at < extent; at++) {
			seed = seed * UINT64_C(0x5851f42d4c957f2d) + 1;
			if (!subject->is_version[at])
				subject->room.bytes[at] = (uint8_t)(seed >> 56);
		}
		for (unsigned i = 0; i < subject->count; i++) {
			const struct answer now = ask(subject, i);
			const int at = subject->at[i];

			is_so &= now.status == subject->answers[i].status
			    && (now.status || (at >= 0 && !memcmp(now.value,
			    &subject->room.bytes[at], subject->bytes[i])));
		}
		subject->room = made;
	}
	return is_so;
}

/* Flips each of the first `extent` bytes of the room, which is as the library
 * made it. */
static const char *
explore(struct subject *subject, unsigned extent)
{
	for (unsigned i = 0; i < subject->count; i++) {
		subject->answers[i] = ask(subject, i);
		subject->at[i] = NOWHERE;
	}
	for (unsigned at = 0; at < extent; at++) {
		bool is_so = true;

		subject->room.bytes[at] ^= FLIPPED;
		for (unsigned i = 0; i < subject->count; i++)
			is_so &= compare(subject, i, at);
		subject->room.bytes[at] ^= FLIPPED;
		if (!is_so && !subject->is_version[at])
			return "an attribute is no copy of its bytes";
	}
	return are_copies(subject, extent) ? NULL
	    : "an attribute depends on more than its bytes";
}

/* Whether attribute `i` was found, and ends below `end`. */
static bool
is_whole(const struct subject *subject, unsigned i, unsigned end)
{
	return subject->at[i] >= 0
	    && (unsigned)subject->at[i] + subject->bytes[i] <= end;
}

/* ---- Layouts ------------------------------------------------------------- */

static bool
make_layout(struct subject *subject, struct ac_provider *provider, int fill)
{
	memset(&subject->room, fill, sizeof subject->room);
	return !PROVIDER(provider, cublasLtMatrixLayoutInit_internal)(
	    &subject->room.layout, sizeof subject->room.layout, CUDA_R_32F, 3,
	    5, 7);
}

/* All of its first bytes are compared, so that it need not be known what is
 * where; but it must be there, and none may be uninitialised. */
static const char *
prove_layout(struct subject *subject, struct ac_provider *provider)
{
	unsigned char first[LAYOUT_BYTES];
	const char *objection;

	subject->is_layout = true;
	subject->count = LAYOUT_ATTRIBUTES;
	memset(subject->is_version, 0, sizeof subject->is_version);
	if (!make_layout(subject, provider, 0xff))
		return "a layout cannot be made";
	memcpy(first, subject->room.bytes, sizeof first);
	if (!make_layout(subject, provider, 0)
	    || memcmp(first, subject->room.bytes, sizeof first))
		return "a layout is not initialised";
	for (unsigned i = 0; i < LAYOUT_ATTRIBUTES; i++) {
		size_t bytes = 0;

		if (subject->library->get_layout(&subject->room.layout,
		    (cublasLtMatrixLayoutAttribute_t)i, NULL, 0, &bytes)
		    || !bytes || bytes > AC_LT_VALUE)
			return "a layout lacks an attribute";
		subject->numbers[i] = (uint8_t)i;
		subject->bytes[i] = (uint8_t)bytes;
	}
	/* The last widens its bytes, so it is no copy. */
	subject->count--;
	objection = explore(subject, 2 * LAYOUT_BYTES);
	for (unsigned i = 0; i < subject->count && !objection; i++)
		if (!is_whole(subject, i, i == subject->count - 1
		    ? LAYOUT_BYTES : HEAD_BYTES))
			objection = "an attribute of a layout is elsewhere";
	subject->count++;
	for (unsigned i = 0; i < 2 * LAYOUT_BYTES && !objection; i++) {
		const struct answer before = ask(subject, subject->count - 1);
		struct answer now;

		subject->room.bytes[i] ^= FLIPPED;
		now = ask(subject, subject->count - 1);
		subject->room.bytes[i] ^= FLIPPED;
		if (subject->is_version[i] || (i >= LAYOUT_BYTES
		    && memcmp(&now, &before, sizeof now)))
			objection = "a layout has several versions";
	}
	return objection;
}

/* ---- Operations ---------------------------------------------------------- */

static bool
make_operation(struct subject *subject, struct ac_provider *provider,
    size_t bytes, int fill)
{
	memset(&subject->room, fill, sizeof subject->room);
	return !PROVIDER(provider, cublasLtMatmulDescInit_internal)(
	    &subject->room.operation, bytes, CUBLAS_COMPUTE_32F, CUDA_R_32F);
}

/* A descriptor of the fewest bytes that make one of its version. */
struct least {
	size_t   bytes;
	unsigned extent;      /* bytes that the library wrote, and holes */
	uint64_t answered;    /* attributes, as bits */
	unsigned char image[ROOM];
};

static uint64_t
answered(struct subject *subject)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < subject->count; i++)
		if (!ask(subject, i).status)
			bits |= UINT64_C(1) << i;
	return bits;
}

/* Larger descriptors have more attributes. Returns how many versions there are,
 * or -1 if there are too many, or if their sizes do not tell. */
static int
find_versions(struct subject *subject, struct ac_provider *provider,
    struct least *least)
{
	int count = 0;

	for (size_t bytes = 8; bytes <= ROOM; bytes += 8) {
		struct least *next = &least[count];
		uint64_t bits;

		if (!make_operation(subject, provider, bytes, 0))
			continue;
		bits = answered(subject);
		if (count && next[-1].answered == bits)
			continue;
		if (count == AC_LT_VERSIONS
		    || (count && (next[-1].answered & ~bits)))
			return -1;
		next->bytes = bytes;
		next->answered = bits;
		memcpy(next->image, subject->room.bytes, ROOM);
		if (!make_operation(subject, provider, bytes, 0xff))
			return -1;
		next->extent = ROOM;
		while (next->extent && next->image[next->extent - 1]
		    != subject->room.bytes[next->extent - 1])
			next->extent--;
		count++;
	}
	return count;
}

/* What else tells the versions apart: whatever differs in new descriptors. */
static void
compare_versions(struct subject *subject, const struct least *least, int count)
{
	for (int i = 1; i < count; i++)
		for (unsigned at = 0; at < least[0].extent; at++)
			if (least[i].image[at] != least[0].image[at])
				subject->is_version[at] = true;
}

/* An attribute that is where it is. */
static void
note_place(const struct subject *subject, unsigned i,
    struct ac_lt_version *version, unsigned char *mask)
{
	const uint8_t *pointer = memchr(ac_lt_pointer_numbers,
	    subject->numbers[i], AC_LT_POINTERS);

	if (!pointer)
		memset(mask + subject->at[i], 0xff, subject->bytes[i]);
	else if (subject->bytes[i] == sizeof(uint64_t))
		version->at[pointer - ac_lt_pointer_numbers] =
		    (uint16_t)subject->at[i];
}

static const char *
prove_version(struct subject *subject, const struct least *least,
    struct ac_lt_version *version)
{
	static const uint8_t head[] = { CUBLASLT_MATMUL_DESC_COMPUTE_TYPE,
		CUBLASLT_MATMUL_DESC_SCALE_TYPE,
		CUBLASLT_MATMUL_DESC_POINTER_MODE,
		CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB,
		CUBLASLT_MATMUL_DESC_EPILOGUE };
	unsigned char mask[sizeof version->mask] = { 0 };
	const char *objection;

	memset(version->at, 0, sizeof version->at);
	if (least->extent > sizeof mask || least->extent < HEAD_BYTES)
		return "an operation is of another size";
	memcpy(subject->room.bytes, least->image, ROOM);
	objection = explore(subject, least->extent);
	if (objection)
		return objection;
	for (unsigned i = 0; i < subject->count; i++) {
		const uint8_t number = subject->numbers[i];

		if (subject->answers[i].status)
			continue;
		if (!is_whole(subject, i, memchr(head, number, sizeof head)
		    ? HEAD_BYTES : least->extent))
			return "an attribute of an operation is elsewhere";
		note_place(subject, i, version, mask);
	}
	version->words = (least->extent + 7) / 8;
	memcpy(version->mask, mask, sizeof mask);
	return version->mask[AC_LT_HASHED_WORD] == UINT64_MAX ? NULL
	    : "an operation has a hole";
}

/* The word that tells versions apart, and its value in each. */
static const char *
prove_version_word(const struct subject *subject, const struct least *least,
    struct ac_lt_proof *proof)
{
	unsigned char bits[8] = { 0 };
	unsigned at = 0;

	while (at < ROOM && !subject->is_version[at])
		at++;
	proof->at = at < ROOM ? at / 8 : 0;
	for (; at < ROOM; at++) {
		if (subject->is_version[at] && at / 8 != proof->at)
			return "several words tell what there is";
		if (subject->is_version[at])
			bits[at % 8] = 0xff;
	}
	memcpy(&proof->bits, bits, sizeof bits);
	if (proof->at >= AC_LT_HEAD_WORDS)
		return "an operation does not tell in its head what it has";
	for (unsigned i = 0; i < proof->count; i++) {
		const unsigned char *image = least[proof->count - 1 - i].image;

		memcpy(&proof->version[i].value, image + 8 * proof->at, 8);
		proof->version[i].value &= proof->bits;
		for (unsigned j = 0; j < i; j++)
			if (proof->version[i].value == proof->version[j].value)
				return "operations do not tell what they have";
		proof->version[i].mask[proof->at] |= proof->bits;
	}
	return NULL;
}

static const char *
prove_operation(struct subject *subject, struct ac_provider *provider,
    struct ac_lt_proof *proof)
{
	static uint64_t last_id;
	static struct least least[AC_LT_VERSIONS];
	const struct ac_lt_library *library = subject->library;
	const char *objection = NULL;
	int count;

	subject->is_layout = false;
	subject->count = library->count;
	memset(subject->is_version, 0, sizeof subject->is_version);
	for (unsigned i = 0; i < library->count; i++) {
		subject->numbers[i] = library->attributes[i].number;
		subject->bytes[i] = library->attributes[i].bytes;
	}
	count = find_versions(subject, provider, least);
	if (count < 1 || library->is_larger)
		return "there are other operations";
	compare_versions(subject, least, count);
	proof->count = (unsigned)count;
	for (int i = 0; i < count && !objection; i++)
		objection = prove_version(subject, &least[count - 1 - i],
		    &proof->version[i]);
	if (!objection)
		objection = prove_version_word(subject, least, proof);
	for (int i = 0; i < count && !objection; i++)
		atomic_store_explicit(&proof->version[i].id, ++last_id,
		    memory_order_release);
	return objection;
}

void
ac_lt_prove(struct ac_provider *provider, const struct ac_lt_library *library,
    struct ac_lt_proof *proof_out)
{
	static struct subject subject; /* large for a stack */

	subject.library = library;
	proof_out->objection = prove_layout(&subject, provider);
	if (!proof_out->objection)
		proof_out->objection = prove_operation(&subject, provider,
		    proof_out);
}
