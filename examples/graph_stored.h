/* SPDX-License-Identifier: Apache-2.0 */
/* examples/graph_stored.h -- the JSON of a cuDNN plan, and files of it. */
#ifndef GRAPH_STORED_H
#define GRAPH_STORED_H

#include <cudnn.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The text of `plan`; the caller frees it. */
static inline char *
stored_get(cudnnBackendDescriptor_t plan, int64_t *length_out)
{
	char *text;

	if (cudnnBackendGetAttribute(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0,
	    length_out, NULL))
		abort();
	text = malloc((size_t)*length_out + 1);
	if (!text || cudnnBackendGetAttribute(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
	    *length_out, length_out, text))
		abort();
	return text;
}

/* A file's; the caller frees it. */
static inline char *
stored_read(const char *path, int64_t *length_out)
{
	FILE *file = fopen(path, "rb");
	char *text;

	if (!file || fseek(file, 0, SEEK_END))
		abort();
	*length_out = ftell(file);
	rewind(file);
	text = malloc((size_t)*length_out + 1);
	if (!text || fread(text, 1, (size_t)*length_out, file)
	    != (size_t)*length_out)
		abort();
	fclose(file);
	return text;
}

static inline void
stored_save(cudnnBackendDescriptor_t plan, const char *path)
{
	FILE *file = fopen(path, "wb");
	int64_t length;
	char *text = stored_get(plan, &length);

	if (!file || fwrite(text, 1, (size_t)length, file) != (size_t)length
	    || fclose(file))
		abort();
	free(text);
}

/* Make `to` a plan of the text of `path`, or of plan's own where that is empty.
 * NULL, and its statuses are printed: cuDNN refuses it. */
static inline cudnnBackendDescriptor_t
stored_load(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
    const char *path, cudnnBackendDescriptor_t to)
{
	int64_t length;
	char *text = *path ? stored_read(path, &length)
	    : stored_get(plan, &length);
	int set, made;

	if (cudnnBackendSetAttribute(to, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
	    CUDNN_TYPE_HANDLE, 1, &handle))
		abort();
	set = (int)cudnnBackendSetAttribute(to,
	    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
	    length, text);
	free(text);
	made = (int)cudnnBackendFinalize(to);
	if (set || made)
		printf(" set=%d finalize=%d\n", set, made);
	return set || made ? NULL : to;
}

#endif
