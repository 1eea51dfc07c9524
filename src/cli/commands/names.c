/* names.c - trackway names: the functions of a program by XRay id, and its instrumentation map as YAML. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "cli/command.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"
#include "cli/output/table.h"

#include <trackway/symbols.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct names_options {
	struct tw_common common;
	bool yaml, no_demangle;
};

/* Sleds of one function, that stand behind each other. */
struct function {
	const struct tw_symbols_function *function;
	const struct tw_symbols_sled *sleds;
	size_t count;
};

static const char *name_of(const struct tw_symbols_function *function, const struct names_options *options)
{
	return options->no_demangle && function->symbol ? function->symbol : function->name;
}

static const char *kind_of(const struct tw_symbols_sled *sled)
{
	const char *name = tw_sled_kind_name(sled->kind);
	return name ? name : "unknown";
}

/* The function of the sleds from one on. */
static struct function function_at(struct tw_symbols *symbols, const struct tw_symbols_sled *sleds, size_t count)
{
	struct function found = {tw_symbols_function(symbols, sleds->id), sleds, 1};
	while (found.count < count && sleds[found.count].id == sleds->id)
		found.count++;
	return found;
}

/* ---- Rows. ---- */

static void put_json(struct tw_output *out, const struct function *one, const struct names_options *options)
{
	struct tw_json json = {.out = out};
	tw_json_object(&json, NULL);
	tw_json_u64(&json, "id", one->function->id);
	tw_json_u64(&json, "address", one->function->address);
	tw_json_text(&json, "name", name_of(one->function, options));
	tw_json_text(&json, "file", one->function->file);
	if (one->function->line)
		tw_json_u64(&json, "line", one->function->line);
	tw_json_array(&json, "sleds");
	for (size_t i = 0; i < one->count; i++) {
		tw_json_object(&json, NULL);
		tw_json_text(&json, "kind", kind_of(&one->sleds[i]));
		tw_json_u64(&json, "address", one->sleds[i].address);
		tw_json_bool(&json, "always_instrument", one->sleds[i].always != 0);
		tw_json_u64(&json, "version", one->sleds[i].version);
		tw_json_object_end(&json);
	}
	tw_json_array_end(&json);
	tw_json_object_end(&json);
	tw_json_line_end(&json);
}

/* "function-enter, 2 function-exit" */
static void add_kinds(struct tw_table *table, const struct function *one)
{
	char text[192] = "";
	size_t used = 0;
	for (unsigned kind = 0; kind <= TW_SLED_KINDS; kind++) {
		size_t count = 0;
		for (size_t i = 0; i < one->count; i++)
			count += one->sleds[i].kind == kind || (kind == TW_SLED_KINDS && one->sleds[i].kind > kind);
		const char *name = tw_sled_kind_name(kind), *between = used ? ", " : "";
		if (count == 1)
			used +=
			    (size_t)snprintf(text + used, sizeof text - used, "%s%s", between, name ? name : "unknown");
		else if (count)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu %s", between, count,
			                         name ? name : "unknown");
	}
	tw_table_add(table, text);
}

static void add_row(struct tw_table *table, const struct function *one, const struct names_options *options)
{
	char address[32], place[512] = "-";
	snprintf(address, sizeof address, "0x%" PRIx64, one->function->address);
	if (one->function->file)
		snprintf(place, sizeof place, "%s:%" PRIu32, one->function->file, one->function->line);
	tw_table_add(table, tw_show_id(one->function->id).text);
	tw_table_add(table, address);
	add_kinds(table, one);
	tw_table_add(table, place);
	tw_table_add(table, name_of(one->function, options));
}

static int put_rows(struct tw_screen *screen, struct tw_symbols *symbols, const struct names_options *options)
{
	static const struct tw_table_column columns[] = {
	    {"ID", true}, {"ADDRESS", true}, {"SLEDS", false}, {"PLACE", false}, {"FUNCTION", false}};
	struct tw_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
	const struct tw_symbols_sled *sleds;
	size_t count = tw_symbols_sleds(symbols, &sleds);
	for (size_t i = 0; i < count;) {
		const struct function one = function_at(symbols, sleds + i, count - i);
		if (options->common.forms.json)
			put_json(&screen->out, &one, options);
		else
			add_row(&table, &one, options);
		i += one.count;
	}
	return options->common.forms.json ? 0 : tw_table_put(&table, screen);
}

/* ---- YAML. Source: LLVM, llvm-xray extract, which writes a flow mapping for each sled. ---- */

/* Whether a text can stand without quotes: it is no number, no truth, and has no mark of YAML's. */
static bool is_plain(const char *text)
{
	static const char *const words[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasecmp(text, words[i]) == 0)
			return false;
	size_t length = strlen(text), good = 0;
	while (good < length && (isalnum((unsigned char)text[good]) || strchr("_-^.", text[good])))
		good++;
	return good == length && length && (isalpha((unsigned char)*text) || *text == '_');
}

/* In single quotes, a quote is doubled; what is no plain text needs double ones, and escapes. */
static void put_quoted(struct tw_output *out, const char *text)
{
	bool escapes = false;
	for (const char *p = text; *p; p++)
		escapes |= (unsigned char)*p < ' ' || *p == 0x7f;
	tw_put_char(out, escapes ? '"' : '\'');
	for (const char *p = text; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			tw_putf(out, "\\x%02X", (unsigned)(unsigned char)*p);
		else if (escapes && (*p == '"' || *p == '\\'))
			tw_putf(out, "\\%c", *p);
		else
			tw_putf(out, *p == '\'' && !escapes ? "''" : "%c", *p);
	}
	tw_put_char(out, escapes ? '"' : '\'');
}

static void put_yaml_sled(struct tw_output *out, const struct tw_symbols_sled *sled, const char *name)
{
	tw_putf(out, "- { id: %" PRIu32 ", address: 0x%" PRIX64 ", function: 0x%" PRIX64 ", kind: %s, ", sled->id,
	        sled->address, sled->function, kind_of(sled));
	tw_putf(out, "always-instrument: %s, function-name: ", sled->always ? "true" : "false");
	if (is_plain(name))
		tw_put_text(out, name);
	else
		put_quoted(out, name);
	tw_putf(out, ", version: %u }\n", sled->version);
}

static void put_yaml(struct tw_output *out, struct tw_symbols *symbols, const struct names_options *options)
{
	const struct tw_symbols_sled *sleds;
	size_t count = tw_symbols_sleds(symbols, &sleds);
	tw_put_text(out, "---\n");
	for (size_t i = 0; i < count; i++) {
		const struct tw_symbols_function *function = tw_symbols_function(symbols, sleds[i].id);
		put_yaml_sled(out, &sleds[i], function->symbol ? name_of(function, options) : "");
	}
	tw_put_text(out, "...\n");
}

/* ---- The command. ---- */

static int put(struct tw_symbols *symbols, const struct names_options *options)
{
	struct tw_screen screen = {0};
	int status = options->yaml ? tw_screen_open(&screen, options->common.output)
	                           : tw_screen_open_form(&screen, &options->common);
	if (status == 0 && options->yaml)
		put_yaml(&screen.out, symbols, options);
	else if (status == 0)
		status = put_rows(&screen, symbols, options);
	return tw_screen_end(&screen, status);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	(void)count;
	const struct names_options *options = (const struct names_options *)common;
	struct tw_symbols *symbols;
	if (options->yaml && (common->forms.json || common->forms.csv || common->forms.markdown))
		return tw_say_usage(&tw_command_names, "only one of --yaml, --json, --csv and --markdown");
	int status = tw_symbols_open(&symbols, operands[0]) < 0 ? tw_say_error("%s", tw_symbols_error(symbols))
	                                                        : put(symbols, options);
	tw_symbols_close(symbols);
	return status;
}

/* A map may have any name. */
static bool writes_yaml(const struct tw_common *common)
{
	return ((const struct names_options *)common)->yaml;
}

#define MEMBER(name) .offset = offsetof(struct names_options, name)
static const struct tw_option own_options[] = {
    {"yaml", 0, TW_OPTION_FLAG, MEMBER(yaml),
     .help = "write the map as `llvm-xray extract --symbolize` does, which --binary reads in place of the program"},
    {"no-demangle", 0, TW_OPTION_FLAG, MEMBER(no_demangle), .help = "names as the symbol table has them"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Names", own_options), &tw_output_options);

const struct tw_command tw_command_names = {
    .name = "names",
    .summary = "the functions of a program by their XRay ids, and its map as YAML",
    .operands = "PROGRAM",
    .description =
	"Lists the functions of a program or shared library that was built with -fxray-instrument: the ids by which "
	"XRay logs tell them, addresses, what sleds each has, where it stands in the source, names. PROGRAM may be a "
	"map in YAML, too.\n\n"
	"Where functions are in several pieces, each has a line. Programs with custom or typed events, of which "
	"llvm-xray 14 can extract no map, are fine. A map is enough to name the functions of a log on another machine: "
	"--binary takes it.",
    .examples = "trackway names server\tThe list.\n"
		"trackway names --yaml server -o server.yaml\tIts map.\n"
		"trackway stat --binary server.yaml server.xray\tNames from the map.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .names_freely = writes_yaml,
    .size = sizeof(struct names_options),
    .least = 1,
    .most = 1,
    .run = run,
};
