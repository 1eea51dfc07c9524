/* output_form.c - in which form a listing is written: by an option, or by the name of the output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/output_form.h"

#include "base/bytes/compress.h"
#include "base/memory/memory.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"

#include <trackway/writer.h>

#include <string.h>

/* ---- What a name tells. ---- */

static const struct {
	const char *ending;
	enum tw_form form;
} endings[] = {
    {".json", TW_FORM_JSON},   {".jsonl", TW_FORM_JSON},        {".ndjson", TW_FORM_JSON},      {".csv", TW_FORM_CSV},
    {".md", TW_FORM_MARKDOWN}, {".markdown", TW_FORM_MARKDOWN}, {".svg", TW_FORM_SVG},          {".html", TW_FORM_HTML},
    {".htm", TW_FORM_HTML},    {".folded", TW_FORM_FOLDED},     {".dot", TW_FORM_DOT},          {".gv", TW_FORM_DOT},
    {".db", TW_FORM_DATABASE}, {".sqlite", TW_FORM_DATABASE},   {".sqlite3", TW_FORM_DATABASE}, {".txt", TW_FORM_TEXT},
    {".log", TW_FORM_TEXT},
};

enum { ENDINGS = sizeof endings / sizeof *endings };

static const char *const unwritten[] = {".png",  ".pdf", ".jpg", ".jpeg", ".gif", ".webp", ".eps",    ".ps",
                                        ".xlsx", ".xls", ".ods", ".tsv",  ".xml", ".yaml", ".yml",    ".doc",
                                        ".docx", ".odt", ".zip", ".tar",  ".bmp", ".tiff", ".parquet"};

const char *tw_unwritten_ending(const char *path)
{
	for (size_t i = 0; i < sizeof unwritten / sizeof *unwritten; i++)
		if (tw_name_ends_with(path, unwritten[i]))
			return unwritten[i];
	return NULL;
}

static bool writes(const struct tw_command *command, enum tw_form form)
{
	return form == command->form || (command->forms | command->from_rows) >> form & 1;
}

/* The first ending of each form that a command writes: ".svg, .html and .json". */
static void list_endings(struct tw_text *list, const struct tw_command *command)
{
	unsigned seen = 0;
	for (size_t i = 0; i < ENDINGS; i++) {
		enum tw_form form = endings[i].form;
		if (!writes(command, form) || seen >> form & 1)
			continue;
		tw_text_add(list, ", ", seen ? 2 : 0);
		tw_text_add(list, endings[i].ending, strlen(endings[i].ending));
		seen |= 1u << form;
	}
}

static int refuse_name(const struct tw_command *command, const char *path, const char *ending)
{
	struct tw_text list = {0};
	list_endings(&list, command);
	int status = tw_say_usage(command, "%s: %s writes no %s; names tell its forms: %s", path, command->name, ending,
	                          list.bytes ? list.bytes : "");
	tw_text_free(&list);
	return status;
}

/* Pictures are opened by what their names tell. */
static int refuse_nameless(const struct tw_command *command, const char *path)
{
	struct tw_text list = {0};
	list_endings(&list, command);
	int status = tw_say_usage(command, "%s: the name tells no form: %s do", path, list.bytes ? list.bytes : "");
	tw_text_free(&list);
	return status;
}

/* Takes the form that a name tells; of flame graphs .txt has always been that of their stacks. */
static int take_named(const struct tw_command *command, struct tw_common *common)
{
	const char *path = common->output;
	for (size_t i = 0; i < ENDINGS; i++) {
		if (!tw_name_ends_with(path, endings[i].ending))
			continue;
		common->forms.chosen = endings[i].form;
		if (common->forms.chosen == TW_FORM_TEXT && !writes(command, TW_FORM_TEXT))
			common->forms.chosen = writes(command, TW_FORM_FOLDED) ? TW_FORM_FOLDED : command->form;
		return writes(command, common->forms.chosen) ? 0 : refuse_name(command, path, endings[i].ending);
	}
	const char *ending = tw_unwritten_ending(path), *format = tw_writer_format_of(path);
	if (ending)
		return refuse_name(command, path, ending);
	if (format)
		return tw_say_usage(command, "%s: the name is that of a trace (%s), which %s does not write", path,
		                    format, command->name);
	return command->form == TW_FORM_SVG ? refuse_nameless(command, path) : 0;
}

/* ---- What options tell. ---- */

/* Takes the form of an option; how many there are is counted. */
static size_t take_options(struct tw_common *common, const char *given[2])
{
	const struct {
		bool given;
		enum tw_form form;
		const char *name;
	} options[] = {
	    {common->forms.json, TW_FORM_JSON, "json"},
	    {common->forms.csv || common->forms.csv_safe, TW_FORM_CSV, "csv"},
	    {common->forms.markdown, TW_FORM_MARKDOWN, "markdown"},
	    {common->forms.svg, TW_FORM_SVG, "svg"},
	    {common->forms.html, TW_FORM_HTML, "html"},
	    {common->forms.folded, TW_FORM_FOLDED, "folded"},
	    {common->forms.dot, TW_FORM_DOT, "dot"},
	};
	size_t count = 0;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		if (!options[i].given)
			continue;
		common->forms.chosen = options[i].form;
		if (count < 2)
			given[count] = options[i].name;
		count++;
	}
	return count;
}

int tw_choose_form(const struct tw_command *command, struct tw_common *common)
{
	const char *given[2];
	common->forms.chosen = command->form;
	if (!(command->forms | command->from_rows) || (command->names_freely && command->names_freely(common)))
		return 0;
	size_t count = take_options(common, given);
	if (count > 1)
		return tw_say_usage(command, "only one of --%s and --%s", given[0], given[1]);
	if (count == 0 && common->output && strcmp(common->output, "-") != 0) {
		int status = take_named(command, common);
		if (status)
			return status;
	}
	common->forms.from_rows = command->from_rows >> common->forms.chosen & 1;
	common->forms.json = common->forms.chosen == TW_FORM_JSON || common->forms.from_rows;
	if ((common->forms.chosen == TW_FORM_SVG || common->forms.chosen == TW_FORM_HTML) &&
	    tw_goes_to_terminal(common->output))
		return tw_say_usage(command, "a picture does not go to a terminal: -o FILE.%s",
		                    common->forms.chosen == TW_FORM_SVG ? "svg" : "html");
	return 0;
}
