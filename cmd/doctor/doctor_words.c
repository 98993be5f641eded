/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_words.c -- what names say: a library's and a function's
 * vendor; the first process of a kind. Pure. */
#include "cmd/doctor/doctor_cause.h"

#include <string.h>

const char *const ac_vendor_names[AC_VENDORS] = {
	"libcublas", "libcublasLt", "libcudnn", "libcusolver"
};

int
ac_vendor_of_file(const char *name)
{
	for (int v = 0; v < AC_VENDORS; v++) {
		const size_t length = strlen(ac_vendor_names[v]);

		if (!strncmp(name, ac_vendor_names[v], length) &&
		    !strncmp(name + length, ".so", 3))
			return v;
	}
	return -1;
}

int
ac_vendor_of_symbol(const char *symbol)
{
	static const struct {
		const char *prefix;
		enum ac_vendor vendor;
	} rows[] = {
		{ "cublasLt", AC_VENDOR_CUBLASLT },
		{ "cublas", AC_VENDOR_CUBLAS },
		{ "cudnn", AC_VENDOR_CUDNN },
		{ "cusolver", AC_VENDOR_CUSOLVER },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strncmp(symbol, rows[i].prefix, strlen(rows[i].prefix)))
			return (int)rows[i].vendor;
	return -1;
}

bool
ac_doctor_has_vendor(const struct ac_doctor_process *process)
{
	for (int v = 0; v < AC_VENDORS; v++)
		if (process->loaded[v] || process->hidden[v])
			return true;
	return false;
}

const struct ac_doctor_process *
ac_diagnosis_process(const struct ac_diagnosis *diagnosis,
    bool (*is)(const struct ac_doctor_process *))
{
	for (size_t i = 0; i < diagnosis->facts->process_count; i++)
		if (is(&diagnosis->facts->processes[i]))
			return &diagnosis->facts->processes[i];
	return NULL;
}
