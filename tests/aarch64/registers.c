/* SPDX-License-Identifier: Apache-2.0 */
/* tests/aarch64/registers.c -- registers [FILE]: call a counted-only function,
 * linked or looked up in FILE, with a value of its own in every register and
 * stack word that may carry an argument. Prints which did not arrive. */
#include "registers.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

_Static_assert(offsetof(struct registers, x) == AT_X
    && offsetof(struct registers, stack) == AT_STACK
    && offsetof(struct registers, address) == AT_RETURN
    && offsetof(struct registers, saved) == AT_SAVED,
    "the assembler has the same layout");

extern void cublasCgemm3m(void);
extern const struct registers *cudnnSeen(void);

static int wrong;

static void
compare(const char *what, int index, uint64_t is, uint64_t should)
{
	if (is == should)
		return;
	dprintf(1, "%s%d: %llx, not %llx\n", what, index,
	    (unsigned long long)is, (unsigned long long)should);
	wrong = 1;
}

static void
compare_vectors(const char *what, int index, unsigned __int128 is,
    unsigned __int128 should)
{
	compare(what, index, (uint64_t)is, (uint64_t)should);
	compare(what, index, (uint64_t)(is >> 64), (uint64_t)(should >> 64));
}

static void
check(const struct registers *in, const struct registers *out,
    const struct registers *seen)
{
	unsigned __int128 answer;

	memset(&answer, 0x5a, sizeof answer);
	for (int i = 0; i < 8; i++) {
		compare_vectors("q", i, seen->q[i], in->q[i]);
		compare("kept x", 21 + i, out->saved[i], in->saved[i]);
	}
	for (int i = 0; i < 9; i++)
		compare("x", i, seen->x[i], in->x[i]);
	for (int i = 0; i < 6; i++)
		compare("stack ", i, seen->stack[i], in->stack[i]);
	compare("x", 30, seen->address, out->address);
	compare("sp ", 0, seen->sp, out->sp);
	compare("x", 29, seen->frame, out->frame);
	compare("answer x", 0, out->x[0], 0x5001);
	compare("answer x", 1, out->x[1], 0x5002);
	compare_vectors("answer q", 0, out->q[0], answer);
}

int
main(int argc, char **argv)
{
	void (*function)(void) = cublasCgemm3m;
	struct registers in, out = { 0 };

	if (argc > 1) {
		void *library = dlopen(argv[1], RTLD_NOW);

		dprintf(1, "look-up\n");
		function = library ? (void (*)(void))(uintptr_t)dlsym(library,
		    "cublasCgemm3m") : NULL;
		if (!function)
			return 1;
	}
	for (size_t i = 0; i < sizeof in; i++)
		((unsigned char *)&in)[i] = (unsigned char)(1 + i * 7);
	dprintf(1, "call\n");
	call_with(&in, &out, function);
	check(&in, &out, cudnnSeen());
	dprintf(1, "%s\n", wrong ? "differ" : "as given");
	return wrong;
}
