/* names.c - the programs that give names to functions: --binary, --load-address, --maps, and lists beside traces. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/names.h"

#include "base/memory/memory.h"
#include "cli/options/options.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "symbols/tool.h"

#include <trackway/symbols.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether a trace tells its functions by addresses, as xtraces do, and not by their numbers. What can be read only
 * once, a pipe, is not looked at: --from tells. *sure is false for this, and for what cannot be opened. Negative
 * without memory. */
static int has_addresses(const struct tw_common *common, const char *path, bool *sure)
{
	struct stat what;
	*sure = common->from != NULL;
	if (common->from)
		return strcmp(common->from, "xtrace") == 0;
	if (stat(path, &what) != 0 || !(S_ISREG(what.st_mode) || S_ISDIR(what.st_mode)))
		return false;
	return tw_symbols_by_address(path, sure);
}

static bool is_regular(const char *path)
{
	struct stat what;
	return stat(path, &what) == 0 && S_ISREG(what.st_mode);
}

/* An option that is given, and is about addresses; NULL: none. */
static const char *address_option(const struct tw_common *common)
{
	const struct {
		const char *name;
		bool given;
	} options[] = {
	    {"--xtrace-layout", common->xtrace.layout},
	    {"--maps", common->names.maps},
	    {"--kallsyms", common->names.kallsyms},
	    {"--load-address", common->names.load_address.given},
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (options[i].given)
			return options[i].name;
	return NULL;
}

const char *tw_binary_path(const char *binary, uint64_t *number)
{
	const size_t digits = strspn(binary, "0123456789");
	if (!digits || binary[digits] != '=')
		return binary;
	*number = strtoull(binary, NULL, 10);
	return binary + digits + 1;
}

/* ---- The list beside a trace, as `record` writes it. ---- */

static bool same_bytes(const char *path, const char *other)
{
	FILE *files[] = {fopen(path, "r"), fopen(other, "r")};
	int bytes[2] = {0, 0};
	while (files[0] && files[1] && bytes[0] == bytes[1] && bytes[0] != EOF)
		for (int i = 0; i < 2; i++)
			bytes[i] = getc(files[i]);
	for (int i = 0; i < 2; i++)
		if (files[i])
			fclose(files[i]);
	return bytes[0] == EOF && bytes[1] == EOF;
}

/* Takes the list of loaded files beside a trace. All traces must have the same: otherwise an address could have two
 * names. */
static void take_list(struct tw_name_sources *names, const char *path)
{
	char *found;
	names->no_memory |= tw_symbols_list_beside(path, &found) < 0;
	if (names->list && found)
		names->lists_differ |= !same_bytes(names->list, found);
	if (names->list)
		free(found);
	else
		names->list = found;
}

/* Whether a path is said for the first time. Each has a line of its own in `said`. */
static bool is_first(struct tw_text *said, const char *path)
{
	char line[PATH_MAX + 128 + 3];
	int length = snprintf(line, sizeof line, "\n%s\n", path);
	if (said->bytes && strstr(said->bytes, line))
		return false;
	tw_text_add(said, line, (size_t)length);
	return true;
}

/* Warns of programs that are newer than the trace: when one was built again, its functions have other addresses. */
static void say_newer(const char *list)
{
	struct stat own, other;
	struct tw_text said = {0};
	char line[PATH_MAX + 128];
	FILE *file = fopen(list, "r");
	while (file && fstat(fileno(file), &own) == 0 && fgets(line, sizeof line, file)) {
		char *path = strchr(line, '/');
		line[strcspn(line, "\n")] = '\0';
		if (path && strstr(line, " r-xp ") && stat(path, &other) == 0 && other.st_mtime > own.st_mtime &&
		    is_first(&said, path))
			tw_say("%s: was changed since it was recorded: names of its functions may be wrong", path);
	}
	if (file)
		fclose(file);
	tw_text_free(&said);
}

/* ---- What the traces have. ---- */

void tw_names_want(struct tw_name_sources *names, const struct tw_common *common, const char *path)
{
	if (!common->names.binaries.count && !common->names.maps) {
		take_list(names, path);
		names->no_memory |=
		    !tw_grow(&names->paths, &names->path_room, names->path_count + 1, sizeof *names->paths);
		if (!names->no_memory)
			names->paths[names->path_count++] = path;
	}
	bool wanted = common->names.binaries.count || address_option(common) || names->list, sure = false;
	int addresses = wanted ? has_addresses(common, path, &sure) : 0;
	names->no_memory |= addresses < 0;
	names->unsure |= !sure;
	names->addresses |= addresses > 0;
	names->ids |= addresses == 0;
	if (addresses == 0 && common->names.binaries.count && is_regular(path)) {
		names->no_memory |= !tw_grow(&names->logs, &names->log_room, names->log_count + 1, sizeof *names->logs);
		if (!names->no_memory)
			names->logs[names->log_count++] = path;
	}
}

/* ---- Whether the programs are those of the logs. ---- */

/* A build, or a copy, of the minute in which the log was written, is not told. */
static void say_built_anew(const struct tw_common *common, const char *log)
{
	enum { MINUTE = 60 };
	struct stat own, other;
	for (size_t i = 0; i < common->names.binaries.count; i++) {
		uint64_t number;
		const char *path = tw_binary_path(common->names.binaries.items[i], &number);
		if (stat(log, &own) == 0 && stat(path, &other) == 0 && other.st_mtime > own.st_mtime + MINUTE)
			tw_say("%s: is newer than %s: where it was built anew, names may be wrong", path, log);
	}
}

/* One reason for all traces: the first. */
static int say_misfit(struct tw_name_sources *names, const struct tw_common *common)
{
	char why[TW_MISFIT_TEXT] = "";
	for (size_t i = 0; i < names->log_count && !*why; i++) {
		if (tw_symbols_fit(names->symbols, names->logs[i], names->log_count == 1, why) < 0)
			return tw_say_error("out of memory");
		if (*why)
			tw_say("%s: is it the program that was traced? Names may be wrong", why);
	}
	if (!*why && names->log_count)
		say_built_anew(common, names->logs[0]);
	return 0;
}

static int fail(const struct tw_symbols *symbols, const char *more)
{
	return tw_say_error("%s%s", tw_symbols_error(symbols), more);
}

/* Where no number is told, the first has 0, and each the one behind the last. */
static int open_ids(struct tw_name_sources *names, const struct tw_common *common)
{
	const char *programs[TW_OBJECT_MOST + 1] = {NULL};
	int status = tw_symbols_new(&names->symbols);
	if (status == 0 && common->names.no_demangle)
		tw_symbols_keep_mangled(names->symbols);
	uint64_t number = 0;
	for (size_t i = 0; status == 0 && names->ids && i < common->names.binaries.count; i++, number++) {
		const char *path = tw_binary_path(common->names.binaries.items[i], &number);
		if (number <= TW_OBJECT_MOST && programs[number])
			return tw_say_error("object %u cannot be two programs, %s and %s", (unsigned)number,
			                    programs[number], path);
		status = tw_symbols_add_object(names->symbols, number, path);
		if (status == 0)
			programs[number] = path;
	}
	return status < 0 ? fail(names->symbols, "") : 0;
}

static int add_program(struct tw_name_sources *names, const struct tw_common *common, const char *binary)
{
	const uint64_t *where = common->names.load_address.given ? &common->names.load_address.value : NULL;
	uint64_t number;
	int status = tw_symbols_add(names->symbols, tw_binary_path(binary, &number), where);
	if (status == TW_ERR_VALUE && common->names.maps && !where) /* the list tells where it was loaded */
		return 0;
	if (status == TW_ERR_VALUE)
		return fail(names->symbols, where ? "" : " (--load-address)");
	return status < 0 ? fail(names->symbols, "") : 0;
}

static int add_programs(struct tw_name_sources *names, const struct tw_common *common)
{
	int status = 0;
	if (common->names.load_address.given && common->names.binaries.count > 1)
		return tw_say_error("--load-address is of one --binary: --maps tells where several were loaded");
	for (size_t i = 0; status == 0 && i < common->names.binaries.count; i++)
		status = add_program(names, common, common->names.binaries.items[i]);
	return status;
}

static void say_missing(int missing, const char *error)
{
	tw_say("no names of %s%s", tw_show_such_as(missing < 0 ? 1 : (uint64_t)missing, "program").text, error);
}

/* Each log names its own functions. */
static int add_logs(struct tw_name_sources *names)
{
	tw_symbols_on_missing(names->symbols, say_missing);
	for (size_t i = 0; i < names->path_count; i++) {
		int missing = tw_symbols_add_log(names->symbols, names->paths[i]);
		if (missing < 0)
			return fail(names->symbols, "");
		if (missing > 0)
			say_missing(missing, tw_symbols_error(names->symbols));
	}
	return 0;
}

static int add_maps(struct tw_name_sources *names, const char *maps)
{
	int missing = tw_symbols_add_maps(names->symbols, maps);
	if (missing < 0)
		return fail(names->symbols, "");
	if (missing > 0)
		tw_say("%s: no names of %s%s (of one program: --thread ID --binary FILE)", maps,
		       tw_show_such_as((uint64_t)missing, "file").text, tw_symbols_error(names->symbols));
	return 0;
}

static int add_kallsyms(struct tw_name_sources *names, const char *kallsyms)
{
	return tw_symbols_add_kallsyms(names->symbols, kallsyms) < 0 ? fail(names->symbols, "") : 0;
}

/* An option that does nothing, for no trace is an xtrace; NULL: there is none. */
static const char *idle_option(const struct tw_name_sources *names, const struct tw_common *common)
{
	if (names->addresses || names->unsure)
		return NULL;
	return address_option(common);
}

int tw_names_open(struct tw_name_sources *names, const struct tw_common *common, struct tw_read_options *options)
{
	const char *idle = idle_option(names, common);
	bool beside = !common->names.binaries.count && !common->names.maps && names->list && !names->lists_differ;
	const char *maps = beside ? names->list : common->names.maps;
	if (names->no_memory)
		return tw_say_error("out of memory");
	if (idle)
		return tw_say_error("%s does nothing: it is for xtraces, and no trace is one", idle);
	if (names->lists_differ)
		tw_say("the traces are of different programs or places: no names of functions (--binary, --maps)");
	if (!common->names.binaries.count && !maps && !names->path_count && !common->names.kallsyms)
		return 0;
	if (beside)
		say_newer(maps);
	int status = open_ids(names, common);
	if (status == 0 && names->addresses && maps)
		status = add_maps(names, maps);
	if (status == 0 && names->addresses && common->names.kallsyms)
		status = add_kallsyms(names, common->names.kallsyms);
	if (status == 0)
		status = add_logs(names);
	if (status == 0 && names->addresses)
		status = add_programs(names, common);
	if (status == 0 && names->ids)
		status = say_misfit(names, common);
	if (status == 0) {
		options->namer = tw_symbols_namer(names->symbols);
		options->thread_namers = tw_symbols_thread_namers(names->symbols);
	}
	return status;
}

int tw_names_open_later(struct tw_name_sources *names, const struct tw_common *common, struct tw_read_options *options)
{
	int status = tw_symbols_new(&names->symbols);
	if (status == 0 && common->names.no_demangle)
		tw_symbols_keep_mangled(names->symbols);
	if (status == 0)
		tw_symbols_on_missing(names->symbols, say_missing);
	if (status == 0)
		status = tw_symbols_add_later(names->symbols);
	if (status < 0)
		return fail(names->symbols, "");
	options->namer = tw_symbols_namer(names->symbols);
	return 0;
}

void tw_names_close(struct tw_name_sources *names)
{
	free(names->list);
	free(names->logs);
	free(names->paths);
	tw_symbols_close(names->symbols);
}
