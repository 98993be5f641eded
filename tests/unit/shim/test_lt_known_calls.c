/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_lt_known_calls.c -- a call that is known from before
 * says what the library's getters say, whatever was changed. */
#include "tests/unit/cases.h"
#include "tests/unit/shim/lt_world.h"

#include "shim/lt/library.h"
#include "shim/lt/known_calls.c"

#include <pthread.h>

enum { ROUNDS = 100000, THREADS = 8 };

/* LT_ROUNDS: fewer, for valgrind. */
static int
rounds(void)
{
	const char *few = getenv("LT_ROUNDS");

	return few ? atoi(few) : ROUNDS;
}

static struct lt_call call;
static struct ac_lt_known scratch;

/* As if nothing had been stored yet. */
static void
empty(void)
{
	memset(slots, 0, sizeof slots);
	memset(ac_lt_hints, 0, sizeof ac_lt_hints);
	atomic_store(&table.used, 0);
}

static int
clear(void **state)
{
	empty();
	lt_world_clear();
	lt_call_init(&call, 0);
	return 0;
}

static const struct ac_lt_proof *
proof(void)
{
	return &ac_lt_library_of(&lt_providers[0])->proof;
}

static void
check_sites(const struct ac_lt_known *known, const struct ac_lt_content *read)
{
	assert_memory_equal(&known->content, read,
	    offsetof(struct ac_lt_content, bias_type));
	assert_memory_equal(&known->content.a, &read->a, sizeof read->a);
	assert_memory_equal(&known->content.b, &read->b, sizeof read->b);
	assert_memory_equal(&known->content.d, &read->d, sizeof read->d);
}

/* What is known of the call is what its getters say. Returns what is stored,
 * NULL for the scratch. */
static struct ac_lt_known *
check(struct lt_call *of, struct ac_lt_known *own)
{
	const struct ac_lt_content any = { .epilogue = -1 };
	struct ac_lt_known *recalled = ac_lt_find_fast(&of->asked);
	struct ac_lt_known *known = ac_lt_find(&of->asked, own), *all;
	struct ac_lt_pointers lie = { 0 }, said = { 0 };
	struct ac_lt_content read;

	assert_true(known && ac_lt_read(&of->asked, &read));
	check_sites(known, &read);
	check_sites(recalled ? recalled : known, &read);
	if (known->content.unsupported)
		assert_memory_equal(&known->content, &read, sizeof read);
	all = ac_lt_verify(&of->asked, known, own);
	assert_non_null(all);
	assert_memory_equal(&all->content, &read, sizeof read);
	assert_int_equal(ac_lt_read_pointers(&of->asked, &any, all->version,
	    &lie), ac_lt_read_pointers(&of->asked, &any, NULL, &said));
	assert_memory_equal(&lie, &said, sizeof said);
	return all == own ? NULL : all;
}

CASE_WITH(test_it_is_proven, clear, NULL)
{
	if (proof()->objection)
		fail_msg("%s", proof()->objection);
	printf("# %u versions of operations\n", proof()->count);
	assert_true(proof()->count >= 1);
}

CASE_WITH(test_known_again, clear, NULL)
{
	struct ac_lt_known *known = check(&call, &scratch);

	assert_non_null(known);
	assert_null(atomic_load(&known->site));
	atomic_store(&known->site, &call);
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(check(&call, &scratch), known);
	assert_ptr_equal(atomic_load(&known->site), &call);
	assert_int_equal(table.used, 1);
}

/* Elsewhere, with other bytes where nothing is. */
CASE_WITH(test_known_wherever_it_lies, clear, NULL)
{
	static struct { char shift[8]; struct lt_call call; } other;
	struct ac_lt_known *known = check(&call, &scratch);

	memset(&other, 0x11, sizeof other);
	assert_int_equal(LT(cublasLtMatmulDescInit_internal)(
	    &other.call.operation.opaque, sizeof other.call.operation.opaque,
	    CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
	other.call.a = call.a;
	other.call.b = call.b;
	other.call.c = call.c;
	other.call.d = call.d;
	memset(&other.call.a.bytes[64], 0x22, sizeof call.a - 64);
	other.call.asked = call.asked;
	other.call.asked.desc = &other.call.operation.opaque;
	other.call.asked.a = &other.call.a.opaque;
	other.call.asked.b = &other.call.b.opaque;
	other.call.asked.c = &other.call.c.opaque;
	other.call.asked.d = &other.call.d.opaque;
	assert_ptr_equal(check(&other.call, &scratch), known);
}

/* Nothing is read of a descriptor that is not there, or that nobody wrote: as
 * sanitizers and valgrind see it. */
CASE_WITH(test_on_the_heap, clear, NULL)
{
	static const size_t sizes[] = { 80, 184, 256 };

	for (int i = 0; i < 12; i++) {
		struct ac_lt_asked *asked = &call.asked;
		cublasLtMatrixLayout_t *matrices[] = { &asked->a, &asked->b,
			&asked->c, &asked->d };

		for (int j = 0; j < 4; j++) {
			*matrices[j] = malloc(sizeof ***matrices);
			assert_int_equal(LT(cublasLtMatrixLayoutInit_internal)(
			    *matrices[j], sizeof ***matrices, CUDA_R_32F, 8, 8,
			    8), 0);
		}
		asked->desc = malloc(sizes[i % 3]);
		if (!LT(cublasLtMatmulDescInit_internal)(asked->desc,
		    sizes[i % 3], CUBLAS_COMPUTE_32F, CUDA_R_32F)) {
			assert_non_null(check(&call, &scratch));
			/* Also those whose hints are another's. */
			asked->mark = (uint64_t)i / 3;
			assert_non_null(check(&call, &scratch));
		}
		for (int j = 0; j < 4; j++)
			free(*matrices[j]);
		free(asked->desc);
	}
	/* As large as the library likes. */
	clear(NULL);
	assert_int_equal(LT(cublasLtMatmulDescCreate)(&call.asked.desc,
	    CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
	assert_non_null(check(&call, &scratch));
	assert_int_equal(LT(cublasLtMatmulDescDestroy)(call.asked.desc), 0);
}

CASE_WITH(test_from_other_places, clear, NULL)
{
	struct ac_lt_known *known[8];
	int count = 0;

	known[count++] = check(&call, &scratch);
	call.asked.caller = (const char *)call.asked.caller + 4;
	known[count++] = check(&call, &scratch);
	call.asked.mark = 1;
	known[count++] = check(&call, &scratch);
	call.asked.mark = UINT64_C(1) << 63;
	known[count++] = check(&call, &scratch);
	call.asked.device = 1;
	known[count++] = check(&call, &scratch);
	call.asked.device = -1;
	known[count++] = check(&call, &scratch);
	call.asked.provider = &lt_providers[1];
	known[count++] = check(&call, &scratch);
	for (int i = 0; i < count; i++)
		for (int j = 0; j <= i; j++)
			assert_int_equal(known[i] == known[j], i == j);
}

/* Hints are shared by places that have nothing to do with each other. */
CASE_WITH(test_places_of_the_same_hints, clear, NULL)
{
	const struct ac_lt_asked asked = call.asked;
	ac_lt_hint *const ways = ac_lt_hints_of(&asked);
	struct ac_lt_known *known[3];

	known[0] = check(&call, &scratch);
	do {
		call.asked.mark++;
	} while (ac_lt_hints_of(&call.asked) != ways);
	known[1] = check(&call, &scratch);
	call.asked.mark = asked.mark;
	do {
		call.asked.caller = (const char *)call.asked.caller + 1;
	} while (ac_lt_hints_of(&call.asked) != ways);
	known[2] = check(&call, &scratch);
	assert_ptr_not_equal(known[0], known[1]);
	assert_ptr_not_equal(known[0], known[2]);
	assert_ptr_not_equal(known[1], known[2]);
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(&atomic_load(&ways[i])->known, known[i]);
}

/* What may change at every call makes no call another. */
CASE_WITH(test_pointers_are_no_content, clear, NULL)
{
	struct ac_lt_known *known = check(&call, &scratch);
	const uint32_t epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS;

	for (int i = 0; i < 2; i++) {
		for (uint64_t value = 1; value; value *= 2) {
			void *pointer = (void *)(intptr_t)value;
			LT_SET(&call, BIAS_POINTER, pointer);
			LT_SET(&call, EPILOGUE_AUX_POINTER, pointer);
			LT_SET(&call, EPILOGUE_AUX_LD, value);
			LT_SET(&call, EPILOGUE_AUX_BATCH_STRIDE, value);
			assert_ptr_equal(ac_lt_find_fast(&call.asked), known);
			assert_ptr_equal(check(&call, &scratch), known);
		}
		empty();
		LT_SET(&call, EPILOGUE, epilogue);
		known = check(&call, &scratch);
	}
}

/* ---- Whatever is changed ------------------------------------------------- */

static uint64_t
draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Mostly values that were there before. */
static void
change(struct lt_call *of, uint64_t *seed)
{
	union lt_matrix *const matrices[] = { &of->a, &of->b, &of->c, &of->d };
	const int number = (int)(draw(seed) % 48);
	unsigned char value[16], fresh[16] = { 0 };
	size_t bytes;

	if (number >= 42) { /* 13.10 has as many attributes */
		union lt_matrix *matrix = matrices[draw(seed) % 4];
		static const uint8_t sizes[] = { 4, 4, 8, 8, 8, 4, 8, 8, 4 };
		const unsigned which = (unsigned)(draw(seed) % 9);
		const int64_t to = (int64_t)(draw(seed) % 2)
		    << (draw(seed) % 16 ? 0 : draw(seed) % 31);

		lt_set_layout(matrix, (int)which, &to, sizes[which]);
		return;
	}
	bytes = lt_get(of, number, value);
	if (!bytes)
		return;
	for (unsigned i = 0; i < ac_lt_library_of(of->asked.provider)->count;
	    i++)
		if (ac_lt_library_of(of->asked.provider)->attributes[i].number
		    == number)
			memcpy(fresh, ac_lt_library_of(of->asked.provider)
			    ->attributes[i].fresh, sizeof fresh);
	if (draw(seed) % 3 == 0)
		value[draw(seed) % bytes] ^= (unsigned char)(1
		    << draw(seed) % 8);
	else
		memcpy(value, fresh, bytes);
	assert_int_equal(lt_set(of, number, value, bytes), 0);
}

CASE_WITH(test_any_change, clear, NULL)
{
	static const size_t sizes[] = { 80, 184, 256, 512 };
	uint64_t seed = 88172645463325252;
	unsigned stored = 0, entries = 0;

	for (int i = 0; i < rounds(); i++) {
		if (table.used > MOST / 2) {
			entries += table.used;
			empty();
		}
		if (i % 100 == 0) {
			const size_t bytes = sizes[draw(&seed) % 4];

			lt_call_init(&call, 0);
			memset(&call.operation, (int)draw(&seed),
			    sizeof call.operation);
			if (LT(cublasLtMatmulDescInit_internal)(
			    &call.operation.opaque, bytes, CUBLAS_COMPUTE_32F,
			    CUDA_R_32F))
				lt_call_init(&call, 0);
		}
		change(&call, &seed);
		stored += check(&call, &scratch) != NULL;
	}
	printf("# %u of %d rounds known, by %u entries\n", stored, rounds(),
	    entries + table.used);
	assert_int_equal(stored, rounds());
}

/* Each bit of each attribute, and the same call from before. */
CASE_WITH(test_each_bit, clear, NULL)
{
	struct ac_lt_known *plain = check(&call, &scratch);

	for (int number = 0; number < AC_LT_ATTRIBUTES; number++) {
		unsigned char value[16];
		const size_t bytes = lt_get(&call, number, value);

		for (unsigned bit = 0; bit < 8 * bytes; bit++) {
			const unsigned char one = (unsigned char)(1 << bit % 8);

			value[bit / 8] ^= one;
			assert_int_equal(lt_set(&call, number, value, bytes),
			    0);
			check(&call, &scratch);
			value[bit / 8] ^= one;
			assert_int_equal(lt_set(&call, number, value, bytes),
			    0);
			assert_ptr_equal(check(&call, &scratch), plain);
		}
	}
}

/* A call that is odd is told from one that is not. */
CASE_WITH(test_odd_and_not, clear, NULL)
{
	const void *const scales[] = { &call, NULL, &scratch, NULL, &call };
	struct ac_lt_known *known[5];

	for (int i = 0; i < 5; i++) {
		LT_SET(&call, A_SCALE_POINTER, scales[i]);
		known[i] = check(&call, &scratch);
		assert_int_equal(known[i]->content.unsupported != 0,
		    scales[i] != NULL);
	}
	assert_ptr_equal(known[1], known[3]);
	assert_ptr_equal(known[0], known[4]);
	assert_int_equal(table.used, 3);
}

/* ---- Limits -------------------------------------------------------------- */

CASE_WITH(test_more_than_there_is_room_for, clear, NULL)
{
	unsigned stored = 0, again = 0;

	for (int round = 0; round < 2; round++)
		for (int64_t i = 1; i <= (rounds() < ROUNDS ? rounds()
		    : 2 * MOST); i++) {
			struct ac_lt_known *known;

			LT_SET_LAYOUT(&call.a, ROWS, i);
			known = check(&call, &scratch);
			*(round ? &again : &stored) += known != NULL;
		}
	assert_int_equal(table.used, stored);
	assert_true(stored <= MOST);
	assert_true(stored >= MOST / 2 || stored == (unsigned)rounds());
	assert_int_equal(again, stored);
}

CASE_WITH(test_nothing_to_know, clear, NULL)
{
	const struct ac_lt_asked asked = call.asked;

#define WITHOUT(member) \
	call.asked.member = NULL; \
	assert_null(ac_lt_find(&call.asked, &scratch)); \
	call.asked = asked
	WITHOUT(desc);
	WITHOUT(a);
	WITHOUT(b);
	WITHOUT(d);
	call.asked.c = NULL;
	assert_int_equal(check(&call, &scratch)->content.c.ld, 48);
	lt_world_clear();
	lt_lacks = "cublasLtMatmulDescGetAttribute";
	assert_null(ac_lt_find(&asked, &scratch));
}

/* ---- Libraries that are made up ------------------------------------------ */

enum { HONEST, SWAPS, HASHES, TURNS, COUNTS, LOOKS_BEHIND, MODE_BEHIND,
	SAYS_BEHIND };
static int manner;

static cublasStatus_t CUBLASWINAPI
get_made_up(cublasLtMatmulDesc_t desc,
    cublasLtMatmulDescAttributes_t attribute, void *value, size_t bytes,
    size_t *written)
{
	static _Atomic unsigned count;
	cublasStatus_t status;

	if (manner == SWAPS && attribute == CUBLASLT_MATMUL_DESC_TRANSA)
		attribute = CUBLASLT_MATMUL_DESC_TRANSB;
	else if (manner == SWAPS && attribute == CUBLASLT_MATMUL_DESC_TRANSB)
		attribute = CUBLASLT_MATMUL_DESC_TRANSA;
	status = LT(cublasLtMatmulDescGetAttribute)(desc, attribute, value,
	    bytes, written);
	if (status || !bytes || attribute != CUBLASLT_MATMUL_DESC_EPILOGUE)
		return status;
	if (manner == HASHES)
		*(uint32_t *)value *= 3;
	if (manner == TURNS)
		*(uint8_t *)value = (uint8_t)(*(uint8_t *)value << 1
		    | *(uint8_t *)value >> 7);
	if (manner == COUNTS)
		*(uint32_t *)value += count++;
	return status;
}

static cublasStatus_t CUBLASWINAPI
get_layout_made_up(cublasLtMatrixLayout_t layout,
    cublasLtMatrixLayoutAttribute_t attribute, void *value, size_t bytes,
    size_t *written)
{
	const unsigned char behind = ((unsigned char *)layout)[60];
	const cublasStatus_t status = LT(cublasLtMatrixLayoutGetAttribute)(
	    layout, attribute, value, bytes, written);

	if (status || !bytes)
		return status;
	if (manner == LOOKS_BEHIND && attribute == CUBLASLT_MATRIX_LAYOUT_LD)
		*(int64_t *)value ^= behind;
	if (manner == MODE_BEHIND && (int)attribute == 8)
		*(uint32_t *)value ^= behind;
	if (manner == SAYS_BEHIND && behind == 0xff)
		return CUBLAS_STATUS_INVALID_VALUE;
	return status;
}

static void
make_up(int way)
{
	lt_world_clear();
	manner = way;
	atomic_store(&lt_providers[0].real[
	    ENTRY_cublasLtMatmulDescGetAttribute], (ac_fn)get_made_up);
	atomic_store(&lt_providers[0].real[
	    ENTRY_cublasLtMatrixLayoutGetAttribute],
	    (ac_fn)get_layout_made_up);
}

CASE_WITH(test_what_cannot_be_proven, clear, NULL)
{
	static const int manners[] = { HASHES, TURNS, COUNTS,
		LOOKS_BEHIND, MODE_BEHIND, SAYS_BEHIND };
	uint64_t seed = 88172645463325252;

	make_up(HONEST);
	assert_null(proof()->objection);
	for (unsigned i = 0; i < sizeof manners / sizeof *manners; i++) {
		make_up(manners[i]);
		assert_non_null(proof()->objection);
		printf("# %s\n", proof()->objection);
		/* What is never the same cannot be compared. */
		for (int j = 0; j < 100 && manners[i] != COUNTS; j++) {
			change(&call, &seed);
			assert_null(check(&call, &scratch));
		}
	}
	assert_int_equal(table.used, 0);
}

/* Nothing is remembered of a library that is gone, at the same addresses. */
CASE_WITH(test_another_library_in_its_place, clear, NULL)
{
	const int32_t transposed = CUBLAS_OP_T;
	struct ac_lt_known *known;

	LT_SET(&call, TRANSA, transposed);
	known = check(&call, &scratch);
	make_up(SWAPS);
	assert_ptr_not_equal(check(&call, &scratch), known);
	assert_int_equal(check(&call, &scratch)->content.transb, transposed);
	lt_world_clear();
	assert_int_equal(check(&call, &scratch)->content.transa, transposed);
}

/* ---- Threads ------------------------------------------------------------- */

static void *
many_calls(void *number)
{
	uint64_t seed = 88172645463325252 + (uintptr_t)number;
	struct lt_call own;
	struct ac_lt_known mine;

	for (int i = 0; i < rounds() / THREADS; i++) {
		const int64_t rows = 1 + (int64_t)(draw(&seed) % 64);

		if (i % 50 == 0)
			lt_call_init(&own, 0);
		own.asked.caller = &call; /* one for all threads */
		LT_SET_LAYOUT(&own.a, ROWS, rows);
		if (draw(&seed) % 4 == 0)
			change(&own, &seed);
		check(&own, &mine);
	}
	return NULL;
}

CASE_WITH(test_threads, clear, NULL)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, many_calls,
		    (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	/* Nobody's entry is twice in the table. */
	for (unsigned i = 0; i < 1 << BITS; i++)
		for (unsigned j = i + 1; slots[i] && j < i + 64; j++) {
			const struct ac_lt_entry *one = (const void *)slots[i],
			    *other = (const void *)slots[j % (1 << BITS)];

			if (other)
				assert_memory_not_equal(&one->key, &other->key,
				    sizeof one->key);
		}
}

int
main(void)
{
	lt_world_open();
	return cases_run(NULL, NULL);
}
