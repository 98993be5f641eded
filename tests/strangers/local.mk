# SPDX-License-Identifier: Apache-2.0
# tests/strangers/local.mk -- what the makefile knows of this folder. Its target
# is no part of `make check`: it downloads, and takes long.
EXTRA_DIST += \
	tests/strangers/README.md \
	tests/strangers/RESULTS.md \
	tests/strangers/programs \
	tests/strangers/programs.def \
	tests/strangers/python \
	tests/strangers/run.sh

# STRANGERS='mlp numba_driver' runs those alone.
.PHONY: strangers
strangers: all
	top_builddir='$(abs_top_builddir)' \
		$(BASH_PROGRAM) $(srcdir)/tests/strangers/run.sh $(STRANGERS)
