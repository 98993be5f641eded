/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/path.c -- autocast path: what to put into LD_PRELOAD. */
#include "cmd/command.h"

#include <stdio.h>

static int
run(const struct ac_command *self, char **arguments)
{
	struct ac_arguments a = { .command = self, .next = arguments };
	const char *library;

	switch (ac_arguments_next(&a)) {
	case AC_ARGUMENT_END:
		break;
	case AC_ARGUMENT_STOP:
		return a.status;
	default:
		return ac_say(AC_EXIT_USAGE, "path: unexpected '%s'; "
		    "'autocast path' takes no operands", a.value);
	}
	library = ac_where_library();
	if (!library)
		return ac_say(AC_EXIT_FAILED, "libautocast.so is not where it "
		    "was installed; install autocast again");
	puts(library);
	return ac_say_done();
}

const struct ac_command ac_command_path = {
	.name = "path",
	.operands = "",
	.summary = "Print the path of the library to preload.",
	.details = "For use without 'autocast run':\n"
	    "  LD_PRELOAD=$(autocast path) ./program\n",
	.run = run
};
