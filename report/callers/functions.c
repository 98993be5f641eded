/* SPDX-License-Identifier: Apache-2.0 */
/* report/callers/functions.c -- the functions that callers are in, by the
 * symbol tables of ELF files. Nothing of a file is believed before it is
 * checked against its size, and nothing is mapped. Called by the autocast
 * program only. */
#include "report/callers/functions.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE = 5 };               /* seconds, for tools that know lines */

/* One caller of a module, and the best symbol so far. */
struct wanted {
	const char *caller;
	uint64_t    at;              /* the call, in the module */
	uint64_t    value;           /* where that symbol begins */
	uint32_t    name;            /* of it, in the strings; 0: none yet */
};

struct object {
	int           fd;
	uint64_t      bytes;
	Elf64_Shdr    symbols, strings;
	bool          has_symbols, has_lines;
	struct wanted *wanted;       /* by `at` */
	size_t        count;
};

/* ---- Callers ----------------------------------------------------------- */

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int
by_caller(const void *a, const void *b)
{
	return strcmp(((const struct ac_caller *)a)->caller,
	    ((const struct ac_caller *)b)->caller);
}

static int
by_address(const void *left, const void *right)
{
	const struct wanted *a = left, *b = right;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* The offset that `caller` ends in, of the byte before the return; 0: none. */
static uint64_t
offset_of(const char *caller, size_t *module_length_out)
{
	const char *plus = strrchr(caller, '+');
	uint64_t at;

	if (!plus || plus[1 + ac_text_digits(plus + 1, &at)])
		return 0;
	*module_length_out = (size_t)(plus - caller);
	return at ? at - 1 : 0;
}

/* ---- Files ------------------------------------------------------------- */

static bool
read_at(const struct object *o, uint64_t offset, void *to, size_t bytes)
{
	return offset <= o->bytes && bytes <= o->bytes - offset
	    && pread(o->fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool
fits(const struct object *o, const Elf64_Shdr *section)
{
	return section->sh_offset <= o->bytes
	    && section->sh_size <= o->bytes - section->sh_offset;
}

static bool
open_object(struct object *o, const struct ac_file_module *module)
{
	struct stat status;

	if (!*module->path)
		return false;
	o->fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (o->fd < 0)
		return false;
	if (!fstat(o->fd, &status) && S_ISREG(status.st_mode)
	    && (uint64_t)status.st_size == module->bytes
	    && (int64_t)status.st_mtim.tv_sec == module->changed_s
	    && (int64_t)status.st_mtim.tv_nsec == module->changed_ns) {
		o->bytes = module->bytes;
		return true;
	}
	close(o->fd);
	return false;
}

/* The whole table, else that of the symbols for others. */
static void
take_symbols(struct object *o, const Elf64_Ehdr *e, const Elf64_Shdr *section)
{
	Elf64_Shdr strings;

	if ((section->sh_type != SHT_SYMTAB
	    && (section->sh_type != SHT_DYNSYM || o->has_symbols))
	    || section->sh_entsize != sizeof(Elf64_Sym)
	    || section->sh_link >= e->e_shnum
	    || !read_at(o, e->e_shoff + section->sh_link * sizeof strings,
	    &strings, sizeof strings)
	    || !fits(o, section) || !fits(o, &strings))
		return;
	o->symbols = *section;
	o->strings = strings;
	o->has_symbols = true;
}

/* Whether it has debug information, or says where that is. */
static bool
tells_lines(const struct object *o, const Elf64_Shdr *names,
    const Elf64_Shdr *section)
{
	static const char *const known[] = { ".debug_line", ".zdebug_line",
		".gnu_debuglink" };
	char name[16] = "";

	if (!fits(o, names) || section->sh_name >= names->sh_size
	    || !read_at(o, names->sh_offset + section->sh_name, name,
	    sizeof name - 1))
		return false;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(name, known[i]))
			return true;
	return false;
}

static void
read_sections(struct object *o)
{
	Elf64_Ehdr e;
	Elf64_Shdr section, names = { .sh_size = 0 };

	if (!read_at(o, 0, &e, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG)
	    || e.e_ident[EI_CLASS] != ELFCLASS64
	    || e.e_ident[EI_DATA] != ELFDATA2LSB
	    || e.e_shentsize != sizeof section)
		return;
	if (e.e_shstrndx < e.e_shnum)
		(void)read_at(o, e.e_shoff + e.e_shstrndx * sizeof names,
		    &names, sizeof names);
	for (unsigned i = 0; i < e.e_shnum; i++) {
		if (!read_at(o, e.e_shoff + i * sizeof section, &section,
		    sizeof section))
			return;
		take_symbols(o, &e, &section);
		o->has_lines |= tells_lines(o, &names, &section);
	}
}

/* The first caller at or behind `address`. */
static size_t
first_from(const struct object *o, uint64_t address)
{
	size_t low = 0, high = o->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (o->wanted[middle].at < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The nearest symbol before a call is its function. */
static void
consider(struct object *o, const Elf64_Sym *symbol)
{
	const unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC)
	    || symbol->st_shndx == SHN_UNDEF || !symbol->st_name)
		return;
	for (size_t i = first_from(o, symbol->st_value); i < o->count &&
	    o->wanted[i].at - symbol->st_value < symbol->st_size; i++) {
		struct wanted *w = &o->wanted[i];

		if (w->name && w->value >= symbol->st_value)
			continue;
		w->name = symbol->st_name;
		w->value = symbol->st_value;
	}
}

static void
read_symbols(struct object *o)
{
	enum { PIECE = 1024 };
	static Elf64_Sym symbol[PIECE];
	const uint64_t count = o->symbols.sh_size / sizeof *symbol;

	for (uint64_t done = 0; done < count; done += PIECE) {
		const size_t here = count - done < PIECE
		    ? (size_t)(count - done) : PIECE;

		if (!read_at(o, o->symbols.sh_offset + done * sizeof *symbol,
		    symbol, here * sizeof *symbol))
			return;
		for (size_t i = 0; i < here; i++)
			consider(o, &symbol[i]);
	}
}

static void
add_name(const struct object *o, const struct wanted *w,
    struct ac_caller *to)
{
	uint64_t room = w->name < o->strings.sh_size
	    ? o->strings.sh_size - w->name : 0;

	memset(to, 0, sizeof *to);
	strcpy(to->caller, w->caller);
	if (room > sizeof to->function - 1)
		room = sizeof to->function - 1;
	if (w->name && room && !read_at(o, o->strings.sh_offset + w->name,
	    to->function, (size_t)room))
		*to->function = '\0';
}

static void
add_lines(const struct object *o, const char *path, struct ac_caller *callers,
    double *seconds)
{
	uint64_t *at = o->has_lines ? malloc(o->count * sizeof *at) : NULL;

	for (size_t i = 0; at && i < o->count; i++)
		at[i] = o->wanted[i].at;
	if (at)
		ac_lines_find(path, at, callers, o->count, seconds);
	free(at);
}

/* Of those of which something is known. */
static void
add_callers(const struct object *o, const char *path,
    struct ac_report *report, double *seconds)
{
	struct ac_caller *first = &report->callers[report->caller_count];

	for (size_t i = 0; i < o->count; i++)
		add_name(o, &o->wanted[i], &first[i]);
	add_lines(o, path, first, seconds);
	for (size_t i = 0; i < o->count; i++)
		if (*first[i].function || *first[i].name || first[i].line)
			report->callers[report->caller_count++] = first[i];
}

static const struct ac_file_module *
module_of(const struct ac_report *report, const char *name, size_t length)
{
	for (size_t p = 0; p < report->process_count; p++) {
		const struct ac_file_header *h = &report->processes[p];

		for (uint32_t i = 0; i < atomic_load(&h->modules); i++)
			if (strlen(h->module[i].name) == length
			    && !memcmp(h->module[i].name, name, length))
				return &h->module[i];
	}
	return NULL;
}

static void
look_up(struct ac_report *report, const struct ac_file_module *module,
    struct wanted *wanted, size_t count, double *seconds)
{
	struct object o = { .wanted = wanted, .count = count };

	if (!module || !open_object(&o, module))
		return;
	qsort(wanted, count, sizeof *wanted, by_address);
	read_sections(&o);
	if (o.has_symbols)
		read_symbols(&o);
	add_callers(&o, module->path, report, seconds);
	close(o.fd);
}

/* Texts are in order, so that those of one module follow each other. */
static void
look_all_up(struct ac_report *report, const char **text, size_t count,
    struct wanted *wanted, double *seconds)
{
	const char *module = "";
	size_t length = 0, here = 0;

	for (size_t i = 0; i <= count; i++) {
		size_t long_as = 0;
		const uint64_t at = i < count
		    ? offset_of(text[i], &long_as) : 0;

		if (here && (i == count || long_as != length
		    || memcmp(text[i], module, length))) {
			look_up(report, module_of(report, module, length),
			    wanted, here, seconds);
			here = 0;
		}
		if (i == count || !at || (i && !strcmp(text[i], text[i - 1])))
			continue;
		module = text[i];
		length = long_as;
		wanted[here++] = (struct wanted){ .caller = text[i], .at = at };
	}
}

void
ac_report_name_callers(struct ac_report *report)
{
	const size_t sites = report->site_count;
	const char **text = malloc((sites + 1) * sizeof *text);
	struct wanted *wanted = malloc((sites + 1) * sizeof *wanted);
	double seconds = PATIENCE;
	size_t count = 0;

	free(report->callers);
	report->caller_count = 0;
	report->callers = malloc((sites + 1) * sizeof *report->callers);
	if (text && wanted && report->callers) {
		for (size_t i = 0; i < sites; i++) {
			text[count] = report->sites[i].key.caller;
			count += !count || strcmp(text[count - 1],
			    text[count]) != 0;
		}
		qsort(text, count, sizeof *text, by_text);
		look_all_up(report, text, count, wanted, &seconds);
		ac_lines_demangle(report->callers, report->caller_count,
		    &seconds);
		qsort(report->callers, report->caller_count,
		    sizeof *report->callers, by_caller);
	}
	free(text);
	free(wanted);
}

const struct ac_caller *
ac_report_caller(const struct ac_report *report, const char *caller)
{
	static const struct ac_caller nothing;
	const struct ac_caller *found;
	struct ac_caller key;
	struct ac_text text = AC_TEXT_IN(key.caller);

	if (!report->caller_count)
		return &nothing;
	ac_text_add(&text, caller);
	found = bsearch(&key, report->callers, report->caller_count,
	    sizeof key, by_caller);
	return found ? found : &nothing;
}
