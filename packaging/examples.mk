# SPDX-License-Identifier: Apache-2.0
# Makefile -- builds the examples in this folder with GNU make, an installed
# autocast and CUDA 13. Copy the folder to a place of your own first.
#
#	make                    with CUDA in /usr/local/cuda
#	make CUDA=DIR           with CUDA elsewhere
#	make digits_cnn         needs cuDNN, too; so does graph_conv
#
#	autocast run -- ./digits_mlp digits.csv
CUDA = /usr/local/cuda
CPPFLAGS = -I$(CUDA)/include
LDFLAGS = -L$(CUDA)/lib64 -L$(CUDA)/lib -Wl,-rpath,$(CUDA)/lib64
LIBS = -lcublas -lcudart
LT_LIBS = -lcublasLt
DNN_LIBS = -lcudnn
PKG_CONFIG = pkg-config
CFLAGS = -O2

ours_flags := $(shell $(PKG_CONFIG) --cflags autocast)
ours_libs := $(shell $(PKG_CONFIG) --libs autocast)
compile = $(CC) -std=gnu11 -D_GNU_SOURCE $(ours_flags) $(CPPFLAGS) $(CFLAGS) \
	-o $@ $(filter %.c,$^) $(LDFLAGS)

digits = digits_device.c digits_input.c
network = $(digits) scaler_network.c
linked = scaler_accumulate scaler_checkpoint scaler_graph scaler_loop \
	scaler_two_models
plain = scaler_after scaler_before
programs = digits_mlp lt_linear region sgemm_strided $(linked) $(plain)

all: $(programs) digits.csv

digits_mlp: digits_mlp.c $(digits)
	$(compile) $(LIBS) -lm
lt_linear: lt_linear.c $(digits)
	$(compile) $(LT_LIBS) $(LIBS) -lm
region sgemm_strided: %: %.c
	$(compile) $(LIBS) -ldl -lm
$(linked): %: %.c $(network)
	$(compile) $(ours_libs) $(LIBS) -lm
$(plain): %: %.c $(network)
	$(compile) $(LIBS) -ldl -lm
digits_cnn: digits_cnn.c digits_network.c $(digits)
	$(compile) $(DNN_LIBS) $(LIBS) -lm
graph_conv: graph_conv.c
	$(compile) $(DNN_LIBS) $(LIBS) -lm
digits.csv: digits.csv.gz
	gzip -dc digits.csv.gz >$@

clean:
	rm -f $(programs) digits_cnn graph_conv digits.csv
.PHONY: all clean
