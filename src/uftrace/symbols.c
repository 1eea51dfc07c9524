/* symbols.c - what the functions at addresses are called: maps of sessions, and symbol files.
 *
 * sid-ID.map is what /proc/PID/maps said; NAME.sym has a line "ADDRESS TYPE NAME" for each symbol, by address. Data
 * that has the feature "relative symbols" counts addresses from where the file begins in memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "base/text/demangle.h"
#include "base/text/scan.h"
#include "uftrace/uftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RELATIVE = 1 << 5, SESSION_BITS = 48, MAPPING_BYTES = 256 };

static void report_full(struct tw_reader *reader)
{
	struct uftrace_symbols *symbols = &uftrace_of(reader)->symbols;
	if (!symbols->full)
		tw_report(reader, &uftrace_rules[UFTRACE_NAME_LIMIT], 0, 0, 0, "%s",
		          uftrace_rules[UFTRACE_NAME_LIMIT].text);
	symbols->full = true;
}

/* ---- Symbol files. ---- */

struct load {
	struct tw_reader *reader;
	struct uftrace_module *module;
	struct uftrace_session *session;
	struct tw_text function; /* the function that the following lines about arguments belong to */
	struct tw_map firsts;    /* by module its first mapping */
	bool failed;             /* no memory */
};

static bool add_symbol(struct load *load, uint64_t address, const char *text)
{
	struct uftrace_module *module = load->module;
	size_t length = text ? strlen(text) + 1 : 0;
	if (!uftrace_fits(load->reader, length + sizeof *module->symbols)) {
		report_full(load->reader);
		return true;
	}
	if (!tw_grow(&module->symbols, &module->room, module->count + 1, sizeof *module->symbols) ||
	    !tw_grow(&module->texts, &module->text_room, module->text_size + length, 1)) {
		load->failed = true;
		return true;
	}
	module->symbols[module->count++] =
	    (struct uftrace_symbol){address, text ? (uint32_t)module->text_size : UINT32_MAX};
	if (text)
		memcpy(module->texts + module->text_size, text, length);
	module->text_size += length;
	return true;
}

/* "0000000000001010 P name"; a '?' is the end of a section, and has a name of no function. */
static bool take_symbol(void *context, char *line)
{
	char *end, *name;
	if (line[0] == '#')
		return true;
	uint64_t address = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || end[2] != ' ')
		return false;
	name = end + 3;
	return add_symbol(context, address, end[1] == '?' ? NULL : name);
}

/* "ffffffff81000000 T _text", behind it perhaps a tab and "[module]". Where addresses are kept secret they are 0. */
static bool take_kernel_symbol(void *context, char *line)
{
	char *end;
	uint64_t address = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || end[2] != ' ')
		return false;
	char *name = end + 3;
	name[strcspn(name, "\t")] = '\0';
	return address == 0 || !strchr("TtWw", end[1]) || add_symbol(context, address, name);
}

static int by_address(const void *a, const void *b)
{
	const struct uftrace_symbol *first = a, *second = b;
	return tw_compare(first->address, second->address);
}

static void sort_symbols(struct uftrace_module *module)
{
	if (module->count)
		qsort(module->symbols, module->count, sizeof *module->symbols, by_address);
}

static const char *symbol_at(const struct uftrace_module *module, uint64_t address)
{
	size_t count = tw_count_up_to(module->symbols, module->count, TW_KEY(struct uftrace_symbol, address), address);
	if (count == 0 || module->symbols[count - 1].text == UINT32_MAX)
		return NULL;
	return module->texts + module->symbols[count - 1].text;
}

/* Takes "F: 1219 add", a function, or a line about its arguments. The name there has no parameters: that of the symbol
 * at the offset is taken instead. */
static bool take_debug_line(void *context, char *line)
{
	struct load *load = context;
	char *name = NULL;
	if (strncmp(line, "F: ", 3) != 0) {
		load->failed |= load->function.length && !uftrace_take_debug_line(load->reader, &load->function, line);
		return true;
	}
	const char *symbol = symbol_at(load->module, strtoull(line + 3, &name, 16));
	symbol = symbol ? symbol : *name == ' ' ? name + 1 : "";
	load->function.length = 0;
	load->failed |= !tw_text_add(&load->function, symbol, strlen(symbol));
	return true;
}

/* Reads a file whose name is the module's with an ending. */
static int read_beside(struct load *load, const char *ending, uftrace_take_line_fn *take, bool *found)
{
	const char *path = load->module->path, *slash = strrchr(path, '/');
	char name[512];
	int length = snprintf(name, sizeof name, "%s%s", slash ? slash + 1 : path, ending);
	return length < (int)sizeof name ? uftrace_read_lines(load->reader, name, take, load, found) : 0;
}

static int load_symbols(struct tw_reader *reader, struct uftrace_module *module)
{
	struct load load = {.reader = reader, .module = module};
	bool found = false, debug;
	module->loaded = true;
	int status = read_beside(&load, ".sym", take_symbol, &found);
	if (status >= 0 && !found)
		tw_report(reader, &uftrace_rules[UFTRACE_NO_SYMBOLS], 0, 0, 0, "There are no symbols of %s.",
		          module->path);
	sort_symbols(module);
	if (status >= 0)
		status = read_beside(&load, ".dbg", take_debug_line, &debug);
	tw_text_free(&load.function);
	return load.failed ? tw_fail_memory(reader) : status;
}

static int load_kernel(struct tw_reader *reader)
{
	struct uftrace_module *module = &uftrace_of(reader)->symbols.kernel;
	struct load load = {.reader = reader, .module = module};
	bool found;
	module->loaded = true;
	int status = uftrace_read_lines(reader, "kallsyms", take_kernel_symbol, &load, &found);
	if (status >= 0 && module->count == 0)
		tw_report(reader, &uftrace_rules[UFTRACE_NO_SYMBOLS], 0, 0, 0,
		          "There are no symbols of the kernel in kallsyms.");
	sort_symbols(module);
	return load.failed ? tw_fail_memory(reader) : status;
}

/* ---- Maps. ---- */

uint32_t uftrace_module_of(struct uftrace_symbols *symbols, const char *path)
{
	uint64_t key = tw_hash_bytes(path, strlen(path), 0);
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&symbols->module_numbers, key, &slot, &number);)
		if (strcmp(symbols->modules[number].path, path) == 0)
			return number;
	char *copy = strdup(path);
	number = (uint32_t)symbols->module_count;
	if (!copy ||
	    !tw_grow(&symbols->modules, &symbols->module_room, symbols->module_count + 1, sizeof *symbols->modules) ||
	    !tw_map_add(&symbols->module_numbers, key, number)) {
		free(copy);
		return UINT32_MAX;
	}
	symbols->modules[symbols->module_count++] = (struct uftrace_module){.path = copy};
	return number;
}

/* Where the module's first mapping begins; what begins at start is the first one where there is none yet. */
static uint64_t base_of(struct load *load, uint32_t module, uint64_t start)
{
	uint32_t first;
	if (tw_map_find(&load->firsts, module, &first))
		return load->session->mappings[first].base;
	load->failed |= !tw_map_add(&load->firsts, module, (uint32_t)load->session->count);
	return start;
}

static char *after_words(char *text, unsigned count)
{
	for (text += strspn(text, " "); count-- > 0; text += strspn(text, " "))
		text += strcspn(text, " ");
	return text;
}

/* "5626a3c0b000-5626a3c10000 r-xp 00000000 00:00 0   /path build-id:...". */
static bool take_mapping(void *context, char *line)
{
	struct load *load = context;
	struct uftrace_session *session = load->session;
	uint64_t start, end;
	const char *at = line;
	if (!tw_scan_number(&at, 16, &start) || *at++ != '-' || !tw_scan_number(&at, 16, &end) || end < start)
		return false;
	char *path = after_words(line + (at - line), 4), *build = strstr(path, " build-id:");
	if (build)
		*build = '\0';
	if (path[0] != '/' || load->failed)
		return true; /* a stack, a heap */
	if (!uftrace_fits(load->reader, MAPPING_BYTES + strlen(path))) {
		report_full(load->reader);
		return true;
	}
	uint32_t module = uftrace_module_of(&uftrace_of(load->reader)->symbols, path);
	load->failed |= module == UINT32_MAX;
	if (load->failed)
		return true;
	struct uftrace_mapping mapping = {start, end, base_of(load, module, start), module};
	if (tw_grow(&session->mappings, &session->room, session->count + 1, sizeof *session->mappings))
		session->mappings[session->count++] = mapping;
	else
		load->failed = true;
	return true;
}

/* So that an address is found without a look at each mapping. */
static bool index_mappings(struct uftrace_session *session)
{
	size_t count = session->count;
	struct tw_interval *spans = malloc((count + 1) * sizeof *spans);
	session->edges = malloc((2 * count + 1) * sizeof *session->edges);
	for (size_t i = 0; spans && i < count; i++)
		spans[i] = (struct tw_interval){session->mappings[i].start, session->mappings[i].end};
	bool fine =
	    spans && session->edges && tw_cover_make(spans, (uint32_t)count, session->edges, &session->edge_count);
	free(spans);
	return fine;
}

static int load_session(struct tw_reader *reader, struct uftrace_session *session)
{
	struct load load = {.reader = reader, .session = session};
	char name[64];
	bool found;
	session->loaded = true;
	(void)snprintf(name, sizeof name, "sid-%s.map", session->id);
	int status = uftrace_read_lines(reader, name, take_mapping, &load, &found);
	if (status >= 0 && !found)
		tw_report(reader, &uftrace_rules[UFTRACE_NO_MAP], 0, 0, 0, "There is no %s.", name);
	tw_map_free(&load.firsts);
	load.failed |= !index_mappings(session);
	return load.failed ? tw_fail_memory(reader) : status;
}

/* ---- Names. ---- */

static const struct uftrace_mapping *mapping_at(const struct uftrace_session *session, uint64_t address)
{
	uint32_t found = tw_cover_find(session->edges, session->edge_count, address);
	return found == TW_NO_SPAN ? NULL : &session->mappings[found];
}

/* The library below an address, the one that begins nearest to it. */
static const struct uftrace_session *library_at(const struct uftrace_symbols *symbols, uint32_t number,
                                                uint64_t address)
{
	const struct uftrace_session *nearest = NULL, *session = &symbols->sessions[number];
	for (; session->under != UINT32_MAX; session = &symbols->sessions[session->under])
		if (session->base <= address && (!nearest || session->base > nearest->base))
			nearest = session;
	return nearest;
}

/* Where the file that an address is in begins in memory; false: it is in none. */
static bool place_of(const struct uftrace_symbols *symbols, const struct uftrace_session *started, uint32_t number,
                     uint64_t address, struct uftrace_mapping *place)
{
	const struct uftrace_mapping *mapping = mapping_at(started, address);
	const struct uftrace_session *library = mapping ? NULL : library_at(symbols, number, address);
	if (mapping)
		*place = *mapping;
	if (library)
		*place = (struct uftrace_mapping){.base = library->base, .module = library->module};
	return mapping || library;
}

/* Finds the symbol; *text is NULL where there is none. */
static int find(struct tw_reader *reader, uint32_t number, uint64_t address, const char **text)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	*text = NULL;
	if (number == UFTRACE_KERNEL) {
		struct uftrace_module *module = &uftrace->symbols.kernel;
		int status = module->loaded ? 0 : load_kernel(reader);
		*text = status < 0 ? NULL : symbol_at(module, address);
		return status;
	}
	if (number == UINT32_MAX)
		return 0;
	struct uftrace_session *session = &uftrace->symbols.sessions[number];
	while (session->under != UINT32_MAX)
		session = &uftrace->symbols.sessions[session->under];
	int status = session->loaded ? 0 : load_session(reader, session);
	struct uftrace_mapping place;
	if (status < 0 || !place_of(&uftrace->symbols, session, number, address, &place))
		return status;
	struct uftrace_module *module = &uftrace->symbols.modules[place.module];
	status = module->loaded ? 0 : load_symbols(reader, module);
	if (status >= 0)
		*text = symbol_at(module, uftrace->header.features & RELATIVE ? address - place.base : address);
	return status;
}

/* A function without a symbol is called by its address. */
static uint32_t intern(struct tw_reader *reader, uint64_t address, const char *symbol)
{
	char number[24];
	char *demangled = symbol ? tw_demangle(symbol, &uftrace_of(reader)->symbols.demangle_budget) : NULL;
	(void)snprintf(number, sizeof number, "0x%" PRIx64, address);
	const char *text = demangled ? demangled : symbol ? symbol : number;
	if (!uftrace_fits(reader, UFTRACE_NAME_BYTES + strlen(text))) {
		report_full(reader);
		text = "(other)";
	}
	uint32_t name = tw_dictionary_text(reader->dictionary, text);
	free(demangled);
	return name;
}

uint32_t uftrace_name(struct tw_reader *reader, uint32_t session, uint64_t address)
{
	struct uftrace_symbols *symbols = &uftrace_of(reader)->symbols;
	uint64_t key = address ^ (uint64_t)(session + 1) << SESSION_BITS;
	uint32_t name;
	const char *text;
	if (tw_map_find(&symbols->names, key, &name))
		return name;
	if (find(reader, session, address, &text) < 0)
		return UINT32_MAX;
	name = intern(reader, address, text);
	if (name == UINT32_MAX || (!symbols->full && !tw_map_add(&symbols->names, key, name))) {
		tw_fail_memory(reader);
		return UINT32_MAX;
	}
	return name;
}

void uftrace_symbols_free(struct uftrace_symbols *symbols)
{
	for (size_t i = 0; i < symbols->module_count; i++) {
		free(symbols->modules[i].path);
		free(symbols->modules[i].symbols);
		free(symbols->modules[i].texts);
	}
	for (size_t i = 0; i < symbols->session_count; i++) {
		free(symbols->sessions[i].mappings);
		free(symbols->sessions[i].edges);
	}
	free(symbols->begins);
	tw_map_free(&symbols->module_numbers);
	free(symbols->kernel.symbols);
	free(symbols->kernel.texts);
	free(symbols->modules);
	free(symbols->sessions);
	tw_map_free(&symbols->names);
	tw_map_free(&symbols->last_sessions);
}
