# SPDX-License-Identifier: Apache-2.0
# tests/corpus/local.mk -- what the makefile knows of this folder.
check_PROGRAMS += tests/corpus/guard_corpus
TESTS += tests/corpus/guard_corpus
tests_corpus_guard_corpus_SOURCES = \
	tests/corpus/corpus.h \
	tests/corpus/families.c \
	tests/corpus/families.h \
	tests/corpus/guard_corpus.c \
	tests/corpus/product.c \
	tests/corpus/trial.c
tests_corpus_guard_corpus_LDADD = $(UNIT_LIBS) -lm
