/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_include.c -- include lines, and files that are none.
 * Works in a temporary folder; a load that waits is ended by an alarm. */
#include "with_policy.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/ac_include_XXXXXX";

static const char *
path_of(const char *name)
{
	static char path[2][512];
	static unsigned turn;

	turn ^= 1;
	snprintf(path[turn], sizeof(path[0]), "%s/%s", folder, name);
	return path[turn];
}

static void
write_file(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Load a file of the folder; its name is cut from the diagnostics. */
static struct ac_policy *
load(const char *name)
{
	struct ac_policy_origin origin;
	struct ac_policy *policy;
	char *at;

	ac_text_init(&said, said_buffer, sizeof(said_buffer));
	problems = (struct ac_policy_problems){ .text = &said };
	policy = ac_policy_load(path_of(name), "", &problems, &origin);
	while ((at = strstr(said_buffer, folder)) != NULL)
		memmove(at, at + strlen(folder), strlen(at + strlen(folder)) +
		    1);
	return policy;
}

static void
check_refused(const char *name, const char *expected)
{
	assert_null(load(name));
	assert_string_equal(said_buffer, expected);
}

CASE(test_textual)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	struct ac_policy *policy;
	struct ac_decision d;

	assert_int_equal(mkdir(path_of("deep"), 0755), 0);
	write_file("a", "[sm=90]\ninclude \"deep/b\"\ngemm n=1 -> keep\n");
	write_file("deep/b", "include \"c\"\nset tol=2e-3\n");
	write_file("deep/c", "gemm m=511 -> keep\n");
	write_file("top", "include \"a\"\ngemm -> tf32\n");
	policy = load("top");
	assert_non_null(policy);
	ac_policy_decide(policy, &op, &d);
	assert_int_equal(d.line, 2);
	assert_string_equal(d.source, path_of("top"));
	/* Sections and settings of an included file reach on. */
	assert_true(d.tol == 2e-3);
	ac_policy_destroy(policy);

	write_file("deep/c", "gemm m=512 -> keep\n");
	policy = load("top");
	assert_non_null(policy);
	ac_policy_decide(policy, &op, &d);
	assert_int_equal(d.line, 1);
	assert_string_equal(d.source, path_of("deep/c"));
	ac_policy_destroy(policy);

	write_file("deep/c", "gemm -> fp61\noops");
	check_refused("top",
	    "/deep/c:1:9: unknown action 'fp61' (did you mean 'fp16'?)\n"
	    "  gemm -> fp61\n"
	    "          ^\n"
	    "/deep/c:2:1: unknown operation 'oops'" ALL_OPERATIONS "\n"
	    "  oops\n"
	    "  ^\n");
	write_file("deep/c", "otherwise off");
	check_refused("top",
	    "/deep/b:2:1: 'otherwise' (line 1) must be the last statement\n"
	    "  set tol=2e-3\n"
	    "  ^\n");
}

/* Errors found at the end stand where their lines do, between files too. */
CASE(test_order_of_errors)
{
	write_file("inner", "oops\n");
	write_file("outer", "gemm -> bf16 tol=1e-3\ninclude \"inner\"\n");
	check_refused("outer",
	    "/outer:1:9: the known error of bf16, 0.0024, is more than "
	    "tol=1e-3 allows: drop bf16, or write tol=0.008\n"
	    "  gemm -> bf16 tol=1e-3\n"
	    "          ^\n"
	    "/inner:1:1: unknown operation 'oops'" ALL_OPERATIONS "\n"
	    "  oops\n"
	    "  ^\n");
}

CASE(test_cycles)
{
	write_file("x", "gemm -> keep\ninclude \"y\"\n");
	write_file("y", "include \"./x\"\n");
	check_refused("x",
	    "/y:1:9: files include each other: /x -> /y -> ./x\n"
	    "  include \"./x\"\n"
	    "          ^\n");
	assert_int_equal(symlink("self", path_of("alias")), 0);
	write_file("self", "include \"alias\"\n");
	check_refused("self",
	    "/self:1:9: files include each other: /self -> alias\n"
	    "  include \"alias\"\n"
	    "          ^\n");
}

CASE(test_bounds)
{
	char name[16], text[32];
	char *many;
	struct ac_text t;
	unsigned i;

	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "d%u", i);
		snprintf(text, sizeof(text), "include \"d%u\"\n", i + 1);
		write_file(name, i < 9 ? text : "gemm -> keep\n");
	}
	/* d1 includes eight others, d0 nine. */
	ac_policy_destroy(load("d1"));
	assert_int_equal(problems.errors, 0);
	check_refused("d0",
	    "/d8:1:9: more than 8 files inside each other\n"
	    "  include \"d9\"\n"
	    "          ^\n");

	many = malloc(4096);
	ac_text_init(&t, many, 4096);
	for (i = 0; i < 64; i++)
		ac_text_add(&t, "include \"leaf\"\n");
	write_file("leaf", "");
	write_file("many", many);
	check_refused("many",
	    "/many:64:9: more than 64 files\n"
	    "  include \"leaf\"\n"
	    "          ^\n");
	free(many);
}

/* What is no policy file is named, at once. */
CASE(test_strange_files)
{
	const size_t size = 10 << 20;
	char *noise = malloc(size);
	FILE *file;
	size_t i;

	check_refused("missing", "/missing: there is no such file\n");
	check_refused("", "/: is a directory\n");
	check_refused("self/x", "/self/x: there is no such file\n");
	assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
	check_refused("fifo", "/fifo: is not a regular file\n");
	for (i = 0; i < size; i++)
		noise[i] = (char)(i * 2654435761u >> 7);
	file = fopen(path_of("noise"), "w");
	assert_non_null(file);
	assert_int_equal(fwrite(noise, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	check_refused("noise", "/noise: is larger than 1 MiB\n");
	assert_int_equal(truncate(path_of("noise"), 1 << 20), 0);
	assert_null(load("noise"));
	assert_non_null(strstr(said_buffer, "this is not a text file"));
	free(noise);

	write_file("closed", "gemm -> keep\n");
	assert_int_equal(chmod(path_of("closed"), 0), 0);
	if (access(path_of("closed"), R_OK) != 0)
		check_refused("closed", "/closed: permission denied\n");

	write_file("asks", "include \"missing\"\ninclude \"fifo\"\noops\n");
	check_refused("asks",
	    "/asks:1:9: /missing: there is no such file\n"
	    "  include \"missing\"\n"
	    "          ^\n"
	    "/asks:2:9: /fifo: is not a regular file\n"
	    "  include \"fifo\"\n"
	    "          ^\n"
	    "/asks:3:1: unknown operation 'oops'" ALL_OPERATIONS "\n"
	    "  oops\n"
	    "  ^\n");
}

/* An empty file is a policy without rules. */
CASE(test_empty)
{
	struct ac_policy *policy;

	write_file("empty", "");
	policy = load("empty");
	assert_non_null(policy);
	assert_true(ac_policy_is_off(policy));
	ac_policy_destroy(policy);
}

/* Text that is no file has no folder: never the current directory. */
CASE(test_no_folder)
{
	assert_null(parse_with("include \"leaf\"", ""));
	assert_string_equal(said_buffer,
	    "-e:1:9: this text is no file: include wants an absolute path "
	    "here\n"
	    "  include \"leaf\"\n"
	    "          ^\n");
}

static int
make_folder(void **state)
{
	alarm(240);
	return mkdtemp(folder) == NULL;
}

static int
remove_folder(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

CASES_RUN(make_folder, remove_folder)
