# SPDX-License-Identifier: Apache-2.0
# emulator/names/stubs.awk -- the C file of one library's stubs, from the file
# `values` and the library's list, whose name is in `list`.
BEGIN {
	status = 801
	word = "CUDA_ERROR_NOT_SUPPORTED"
	if (list ~ /^cublas/) {
		status = 15
		word = "CUBLAS_STATUS_NOT_SUPPORTED"
	} else if (list ~ /^cudart/) {
		word = "cudaErrorNotSupported"
	} else if (list ~ /^cudnn/) {
		status = list == "cudnn.8" ? 9 : 3000
		word = "CUDNN_STATUS_NOT_SUPPORTED"
	} else if (list == "nvml") {
		status = 3
		word = "" # what NVML says of what a GPU lacks: nothing to say
	}
	word = word == "" ? "0" : "\"" word "\""
	printf "/* Made by emulator/names/stubs.awk of %s. */\n", list
	print "#include \"emulator/names/stub.h\"\n"
}
/^#/ { next }
FILENAME ~ /values$/ {
	for (i = 2; i <= NF; i++)
		type[$i] = $1
	next
}
{
	sub(/@.*/, "")
	what = $0 in type ? type[$0] : "status"
	value = what == "void" ? "" : what == "status" ? status : "0"
	sub(/status/, "int", what)
	sub(/-complex/, " _Complex", what)
	names = names "NAME(" $0 ")\n"
	printf "STUB(%s, %s, %s, %d, %s)\n", what, $0, value, status, word
}
END {
	if (list ~ /^cuda/ && list !~ /^cudart/)
		printf "const struct emu_name emu_driver_names[] = {\n%s" \
		    "{ 0, 0 } };\n", names
}
