/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/child.h -- one scenario per process, for code that remembers its
 * first answer as long as the process lives. */
#ifndef AC_TESTS_CHILD_H
#define AC_TESTS_CHILD_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a child: go on, or say where it failed and end the child. */
#define CHECK(condition) do {                                          \
	if (!(condition)) {                                            \
		fprintf(stderr, "# %s:%d: %s\n", __FILE__, __LINE__,   \
		    #condition);                                       \
		_exit(1);                                              \
	}                                                              \
} while (0)

/* The child's exit status, 0 if `scenario` returned. */
static inline int
child_run(void (*scenario)(void))
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		scenario();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

/* Opens a case that runs in a child. */
#define SCENARIO(name)                                                 \
	static void name(void);                                        \
	CASE(test_##name)                                              \
	{                                                              \
		assert_int_equal(child_run(name), 0);                  \
	}                                                              \
	static void name(void)

#endif
