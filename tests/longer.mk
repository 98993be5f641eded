# SPDX-License-Identifier: Apache-2.0
# tests/longer.mk -- what is tried for longer than make check does.

# Programs that nobody has seen, from a seed on.
COUNT = 20
trust: all tests/trust/rhythm
	@$(AM_TESTS_ENVIRONMENT) $(BASH_PROGRAM) \
	    $(srcdir)/tests/trust/drawn.sh $(SEED) $(COUNT) '$(POLICY)'

# What amp takes, of what off takes, for programs of so many calls.
GPUS = h200 a100 rtx4090 t4
CALLS = 1 2 3 4 5 6 8 10 12 16 20 24 32 48 64 80 100
ratios: all tests/trust/cost
	@$(AM_TESTS_ENVIRONMENT) $(BASH_PROGRAM) \
	    $(srcdir)/tests/trust/ratios.sh '$(GPUS)' '$(CALLS)'

# What a test says, and its verdict: a script's own status is always 0.
as_said = awk '{ print; fflush() } /^not ok/ { bad = 1 } END { exit bad }'

# What tune finds in programs of 300 sites, of so many.
planted: all $(check_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) SEEDS='$(SEEDS)' $(BASH_PROGRAM) \
	    $(srcdir)/tests/cli/tune_planted.sh | $(as_said)

# Families of data through a verified product, drawn by more seeds.
SEEDS = 20
families: tests/unit/kernels/test_verified
	tests/unit/kernels/test_verified $(SEED) $(SEEDS)

# Every client with the kernels run by their PTX, all that they do checked: an hour.
EXTRA_DIST += tests/preload/checked.sh
checked: all $(check_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) $(BASH_PROGRAM) \
	    $(srcdir)/tests/preload/checked.sh | $(as_said)

# The PTX that ships against its twins, for longer than make check does.
TURNS = 1000
SEED = 2
shipped-ptx: tests/unit/kernels/test_shipped_ptx
	tests/unit/kernels/test_shipped_ptx $(TURNS) $(SEED)

# The same on 96 damaged texts: tests/unit/kernels/ptx_mutants.sh.
ptx-mutants: tests/unit/kernels/test_shipped_ptx
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) \
	    $(srcdir)/tests/unit/kernels/ptx_mutants.sh

# Damaged device code, for longer than make check does.
IMAGES = 1000000
images: tests/unit/emulator/test_emu_image
	AC_TEST_IMAGES=$(IMAGES) tests/unit/emulator/test_emu_image

# Damaged PTX, with sanitizers.
FUZZ_TURNS = 100000
CLEANFILES += tests/fuzz/ptx_fuzz
ptx-fuzz:
	$(CC) -O1 -g -ffp-contract=off -D_GNU_SOURCE -fsanitize=address,undefined \
	    -fno-sanitize-recover=undefined -I$(srcdir) -o tests/fuzz/ptx_fuzz \
	    $(srcdir)/emulator/ptx/*.c $(srcdir)/base/text.c \
	    $(srcdir)/tests/fuzz/ptx_parse.c -lm
	tests/fuzz/ptx_fuzz $(FUZZ_TURNS) $(SEED)
