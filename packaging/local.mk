# SPDX-License-Identifier: Apache-2.0
# packaging/local.mk -- what `make install` leaves beyond programs, libraries
# and manuals, and what packages are made of.
EXTRA_DIST += \
	packaging/README.md \
	packaging/after-install \
	packaging/build-deb \
	packaging/examples.mk \
	packaging/modulefile \
	packaging/modulefile-tasks \
	packaging/same-tarball \
	packaging/spack/package.py \
	packaging/try-bare \
	packaging/try-deb \
	debian/autocast-emulator.install \
	debian/autocast.install \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/libautocast-dev.install \
	debian/libautocast1.install \
	debian/rules \
	debian/source/format
dist_doc_DATA = README.md NEWS LICENSE SECURITY.md
docpagesdir = $(docdir)/doc
dist_docpages_DATA = doc/accuracy.md doc/how-it-works.md doc/limits.md \
	doc/programs.md
examplesdir = $(docdir)/examples
dist_examples_DATA = \
	examples/data/digits.csv.gz \
	examples/digits_cnn.c \
	examples/digits_device.c \
	examples/digits_device.h \
	examples/digits_input.c \
	examples/digits_input.h \
	examples/digits_mlp.c \
	examples/digits_network.c \
	examples/digits_network.h \
	examples/graph_conv.c \
	examples/lt_linear.c \
	examples/region.c \
	examples/scaler_accumulate.c \
	examples/scaler_after.c \
	examples/scaler_before.c \
	examples/scaler_checkpoint.c \
	examples/scaler_graph.c \
	examples/scaler_loop.c \
	examples/scaler_network.c \
	examples/scaler_network.h \
	examples/scaler_ranks.c \
	examples/scaler_tensors.h \
	examples/scaler_two_models.c \
	examples/sgemm_strided.c

# Modulefiles are called by the version. They find the program from their own
# place.
modulefiledir = $(datadir)/modulefiles/autocast
nodist_modulefile_DATA = modulefiles/autocast/$(PACKAGE_VERSION)
modulefiletasksdir = $(datadir)/modulefiles/autocast-tasks
nodist_modulefiletasks_DATA = modulefiles/autocast-tasks/$(PACKAGE_VERSION)
dist_pkgdata_SCRIPTS = packaging/task-prolog
modulefiles/autocast/$(PACKAGE_VERSION): packaging/modulefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp "$(srcdir)/packaging/modulefile" $@
modulefiles/autocast-tasks/$(PACKAGE_VERSION): packaging/modulefile-tasks
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	    cp "$(srcdir)/packaging/modulefile-tasks" $@
CLEANFILES += $(nodist_modulefile_DATA) $(nodist_modulefiletasks_DATA)

# What shells complete by, from the program's own tables: where it can run.
if !CROSS
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = completion/bash/autocast
zshcompletiondir = $(datadir)/zsh/site-functions
nodist_zshcompletion_DATA = completion/zsh/_autocast
fishcompletiondir = $(datadir)/fish/vendor_completions.d
nodist_fishcompletion_DATA = completion/fish/autocast.fish
completions = $(nodist_bashcompletion_DATA) $(nodist_zshcompletion_DATA) \
	$(nodist_fishcompletion_DATA)
$(completions): autocast
	$(AM_V_GEN)$(MKDIR_P) $(@D) && ./autocast completion \
	    $(notdir $(@D)) >$@.tmp && mv $@.tmp $@
CLEANFILES += $(completions)
endif

install-data-hook:
	$(INSTALL_DATA) $(srcdir)/packaging/examples.mk \
	    "$(DESTDIR)$(examplesdir)/Makefile"
	cd "$(DESTDIR)$(apidir)" && rm -f libautocast-api.so && \
	    $(LN_S) libautocast-api.so.1 libautocast-api.so
	@test -n "$(DESTDIR)" || \
	    $(SHELL) $(srcdir)/packaging/after-install "$(apidir)"
# Folders of ours that are empty by now; never another's.
uninstall-hook:
	rm -f "$(DESTDIR)$(apidir)/libautocast-api.so" \
	    "$(DESTDIR)$(examplesdir)/Makefile"
	@for folder in "$(examplesdir)" "$(policiesdir)" "$(docpagesdir)" \
	    "$(docdir)" "$(pkglibdir)/emulator" "$(pkglibdir)" "$(modulefiledir)" \
	    "$(modulefiletasksdir)" "$(pkgdatadir)"; do \
		rmdir "$(DESTDIR)$$folder" 2>/dev/null; \
	done; :
