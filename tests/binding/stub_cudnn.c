/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/stub_cudnn.c -- libcudnn.so.9 and its parts. The library that
 * programs link to is a front: it opens a part and looks its own public names
 * up in there, and a part does so with cublasLtMatmul. Who wraps whatever
 * dlsym() finds calls himself for ever. PART: the file of a part. */
#include "stub.h"

#include <dlfcn.h>
#include <stdint.h>

SHOWN int cudnnConvolutionForward(void *handle);
SHOWN int cudnnBackendExecute(void *handle);

static int
ask(const char *file, const char *function, void *handle)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	int (*real)(void *) = library
	    ? (int (*)(void *))(uintptr_t)dlsym(library, function) : NULL;

	return real ? real(handle) : -1;
}

#ifdef PART

SHOWN int
cudnnConvolutionForward(void *handle)
{
	(void)handle;
	say(PART, "cudnnConvolutionForward");
	return 5001;
}

SHOWN int
cudnnBackendExecute(void *handle)
{
	const int answer = ask("libcublasLt.so.13", "cublasLtMatmul", handle);

	say(PART, "cudnnBackendExecute");
	return answer == 4200 ? 5002 : answer;
}

#else

SHOWN int
cudnnConvolutionForward(void *handle)
{
	const int answer = ask("libcudnn_cnn.so.9", "cudnnConvolutionForward",
	    handle);

	say("libcudnn.so.9", "cudnnConvolutionForward");
	return answer;
}

SHOWN int
cudnnBackendExecute(void *handle)
{
	const int answer = ask("libcudnn_adv.so.9", "cudnnBackendExecute",
	    handle);

	say("libcudnn.so.9", "cudnnBackendExecute");
	return answer;
}

#endif
