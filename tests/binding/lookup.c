/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/lookup.c -- what dlsym() and its kin answer, and what dlerror()
 * says after that. `lookup absent NAME...`: in the program's own scope, where
 * no NAME is. `lookup FILE`: right and wrong questions about a libcublas. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The loader's text of a failure in the global scope names the object that
 * asked, the program or libautocast: only whether there is one is shown. */
static void
tell_default(const char *question, const char *name)
{
	const void *found = dlsym(RTLD_DEFAULT, name);
	const char *text = dlerror();

	dprintf(1, "%s: %s, %s\n", question, found ? "found" : "NULL",
	    text && strstr(text, name) ? "error" : "no error");
}

static void
tell(const char *question, const void *answer)
{
	const char *text = dlerror();

	dprintf(1, "%s: %s, %s\n", question, answer ? "found" : "NULL",
	    text ? text : "no error");
}

static int
ask(const char *file)
{
	static const char name[] = "cublasSgemm_v2";
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	void *found;

	tell("dlopen", library);
	if (!library)
		return 1;
	tell("right", dlsym(library, name));
	tell("unknown", dlsym(library, "cublasNoSuch"));
	tell("of another library", dlsym(library, "cudnnConvolutionForward"));
	tell_default("loaded, but not global", name);
	tell("a stranger's name", dlsym(RTLD_DEFAULT, "no_such_function"));
	found = dlsym(library, "cublasNoSuch");
	if (!found)
		found = dlsym(library, name);
	tell("right after wrong", found);
	tell("right version", dlvsym(library, name, "libcublas.so.13"));
	tell("wrong version", dlvsym(library, name, "libcublas.so.11"));
	tell("version of an unknown name",
	    dlvsym(library, "cublasNoSuch", "libcublas.so.13"));
	tell("version of another library's name",
	    dlvsym(library, "cudnnConvolutionForward", "libcudnn.so.9"));
	tell("a hook's own name", dlsym(library, "dlsym"));
	tell("no such file", dlopen("libcublas.so.no", RTLD_NOW));
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "absent"))
		return ask(argv[1]);
	for (int i = 2; i < argc; i++)
		tell(argv[i], dlsym(RTLD_DEFAULT, argv[i]));
	return 0;
}
