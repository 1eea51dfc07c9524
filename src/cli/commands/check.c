/* check.c - trackway check: what is wrong with a trace, and where. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "cli/files/findings_filter.h"
#include "cli/files/nothing_passed.h"
#include "cli/files/rules.h"
#include "cli/files/spooled_stdin.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <string.h>

enum { NOTES_SHOWN = 3, FINDINGS_SHOWN = 100, FINDINGS_SIFTED = 100000, FINDINGS_MOST = 1000000 }; /* of each rule */

struct check_options {
	struct tw_common common;
	bool all, rules;
};

/* Where a file's findings go. */
struct findings_listing {
	struct tw_screen *screen;
	const char *path;
	bool all; /* --all was given */
};

struct checking {
	struct tw_screen screen;
	const struct check_options *options;
};

/* Of each rule so many are listed. */
static size_t most_of(const struct check_options *options)
{
	return options->all ? FINDINGS_MOST : FINDINGS_SHOWN;
}

/* ---- Findings. ---- */

/* Whether the byte's offset helps to find it: the line of a text is the first, which may be the only one, or is longer
 * than people read. */
static bool is_byte_shown(const struct tw_kept *kept)
{
	enum { READ_BY_PEOPLE = 120 };
	return kept->line ? kept->line == 1 || kept->column > READ_BY_PEOPLE : kept->at != kept->record;
}

static void put_severity(struct tw_screen *screen, enum tw_severity severity)
{
	bool red = screen->color && severity == TW_ERROR;
	tw_putf(&screen->out, "%s%s:%s ", red ? "\033[31m" : "", tw_severity_name(severity), red ? "\033[m" : "");
}

static void put_text(void *context, const struct tw_kept *kept)
{
	const struct findings_listing *listing = context;
	struct tw_output *out = &listing->screen->out;
	tw_put_safe(out, kept->file, strlen(kept->file));
	if (kept->line)
		tw_putf(out, ":%s:%s: ", tw_show_id(kept->line).text, tw_show_id(kept->column).text);
	else
		tw_putf(out, ":0x%llx: ", (unsigned long long)kept->record);
	put_severity(listing->screen, kept->severity);
	tw_put_safe(out, kept->text, strlen(kept->text));
	if (is_byte_shown(kept))
		tw_putf(out, " (byte 0x%llx)", (unsigned long long)kept->at);
	tw_putf(out, " [%s]\n", kept->rule);
}

static void put_json(void *context, const struct tw_kept *kept)
{
	const struct findings_listing *listing = context;
	struct tw_json json = {.out = &listing->screen->out};
	tw_json_object(&json, NULL);
	tw_json_text(&json, "rule", kept->rule);
	tw_json_text(&json, "severity", tw_severity_name(kept->severity));
	tw_json_text(&json, "file", kept->file);
	tw_json_u64(&json, "record", kept->record);
	tw_json_u64(&json, "at", kept->at);
	tw_json_u64(&json, "line", kept->line);
	tw_json_u64(&json, "column", kept->column);
	tw_json_text(&json, "text", kept->text);
	tw_json_object_line_end(&json);
}

static void put_more(void *context, const char *rule, uint64_t count)
{
	const struct findings_listing *listing = context;
	tw_putf(&listing->screen->out, "... and %s more [%s]%s\n", tw_show_count(count).text, rule,
	        listing->all ? "" : " (--all shows them)");
}

/* In JSON the listing holds findings only: what was left out is told beside it. */
static void say_more(void *context, const char *rule, uint64_t count)
{
	const struct findings_listing *listing = context;
	tw_say("%s: ... and %s more of %s", listing->path, tw_show_count(count).text, rule);
}

/* "FILE: 3 errors, 1 warning, 2 notes", without what there is none of. */
static void put_summary(struct findings_listing *listing, const struct tw_findings *findings)
{
	struct tw_output *out = &listing->screen->out;
	const char *before = ": ";
	tw_put_safe(out, listing->path, strlen(listing->path));
	for (enum tw_severity severity = TW_ERROR;; severity--) {
		uint64_t count = tw_findings_count(findings, severity);
		if (count)
			tw_putf(out, "%s%s", before, tw_show_plural(count, tw_severity_name(severity)).text);
		before = count ? ", " : before;
		if (severity == TW_NOTE)
			break;
	}
	tw_put_text(out, *before == ':' ? ": fine\n" : "\n");
}

/* ---- The command. ---- */

/* Whether no filter but --thread is given. Of a trace in several files, one for each thread, the reader knows a
 * finding's thread, but an offset alone does not tell which of the files' events stand beside it. */
static bool sifts_by_thread_alone(const struct tw_common *common)
{
	struct tw_common others = *common;
	others.filter.threads.count = 0;
	return !tw_has_filters(&others);
}

static int sift(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	const struct checking *checking = walk->context;
	struct tw_read_options options = walk->options;
	bool several = tw_has_thread_files(reader);
	if (!walk->filters_findings || (several && sifts_by_thread_alone(walk->common)))
		return 0;
	if (several)
		return tw_say_error("%s: of a trace of format %s findings are chosen by --thread alone", path,
		                    tw_reader_format(reader));
	tw_take_options(walk->common, true, &options);
	options.threads = walk->chosen.threads;
	options.thread_count = walk->chosen.thread_count;
	options.thread_processes = walk->chosen.thread_processes;
	uint64_t passed[TW_EVENT_KINDS] = {0};
	int status = tw_findings_filter(&walk->findings, most_of(checking->options), path, &options, passed);
	if (status == 0)
		tw_say_passed(walk->common, passed);
	return status;
}

static int read_all(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct tw_batch batch;
	int status;
	while ((status = tw_read(reader, &batch)) > 0)
		;
	return status < 0 ? status : sift(walk, reader, path);
}

static int show(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)reader;
	struct checking *checking = walk->context;
	bool all = checking->options->all;
	struct findings_listing listing = {.screen = &checking->screen, .path = tw_shown_path(path), .all = all};
	bool json = walk->common->forms.json;
	const struct tw_findings_list list = {
	    .put = json ? put_json : put_text,
	    .more = json ? say_more : put_more,
	    .context = &listing,
	    .notes = json || all ? 0 : NOTES_SHOWN,
	};
	if (tw_screen_open_form(listing.screen, walk->common))
		return TW_EXIT_FAILED;
	bool fine = tw_findings_each(&walk->findings, TW_NOTE, &list);
	if (!json)
		put_summary(&listing, &walk->findings);
	if (walk->findings.unjudged)
		tw_say("%s: %s further on, that may or may not be about what passes the filters%s", tw_shown_path(path),
		       tw_show_plural(walk->findings.unjudged, "finding").text, all ? "" : " (--all looks at more)");
	if (!fine)
		return tw_say_error("%s: no memory for all findings", tw_shown_path(path));
	return tw_findings_count(&walk->findings, TW_ERROR) ? TW_EXIT_FINDINGS : 0;
}

/* What does nothing where only rules are listed; NULL: there is no such option. */
static const char *idle_option(const struct tw_common *common)
{
	const struct {
		const char *name;
		bool given;
	} options[] = {
	    {"--memory", common->limits.memory},
	    {"--reorder-window", common->limits.reorder_window},
	    {"--xtrace-layout", common->xtrace.layout},
	    {"--binary", common->names.binaries.count != 0},
	    {"--maps", common->names.maps},
	    {"--kallsyms", common->names.kallsyms},
	    {"--jobs", common->limits.jobs},
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (options[i].given)
			return options[i].name;
	return NULL;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct check_options *options = (const struct check_options *)common;
	struct checking checking = {.options = options};
	bool sifts = tw_has_filters(common);
	struct tw_walk walk = {
	    .nameless = true,
	    .common = common,
	    .options = {.order = TW_ORDER_TRACK, .checking = TW_CHECK_ALL, .findings_only = true},
	    .own_findings = true,
	    .filters_findings = sifts,
	    .findings = {.limit = sifts && !options->all ? FINDINGS_SIFTED : most_of(options)},
	    .context = &checking,
	    .read = read_all,
	    .show = show,
	};
	if (!options->rules && count == 0)
		return tw_say_usage(&tw_command_check, "check wants FILE..., or --rules");
	if (options->rules && count > 0)
		return tw_say_usage(&tw_command_check, "--rules reads no FILE; --from FORMAT chooses whose rules");
	if (options->rules && (common->filter.given || options->all))
		return tw_say_usage(&tw_command_check, "--rules lists no findings: %s does nothing",
		                    options->all ? "--all" : "a filter");
	if (options->rules && idle_option(common))
		return tw_say_usage(&tw_command_check, "--rules reads nothing: %s does nothing", idle_option(common));
	int status = sifts ? tw_spool_stdin(operands, count) : 0;
	if (status == 0)
		status = options->rules ? tw_put_rules(&checking.screen, common) : tw_walk(&walk, operands, count);
	return tw_screen_end(&checking.screen, status);
}

static const struct tw_option own_options[] = {
    {"all", 'a', TW_OPTION_FLAG, offsetof(struct check_options, all),
     .help = "list up to a million findings of each rule; otherwise the first hundred, of notes the first three"},
    {"rules", 0, TW_OPTION_FLAG, offsetof(struct check_options, rules),
     .help = "list the rules of all formats, or of that of --from: name, severity, what it means"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Findings", own_options), &tw_filter_options, &tw_input_options, &tw_jobs_options,
                     &tw_output_options);

const struct tw_command tw_command_check = {
    .name = "check",
    .summary = "every rule of the format: what is broken, and where",
    .operands = "[FILE]...",
    .description =
	"Verifies a trace against its format and lists what it finds, by byte offset: file, offset of the record, "
	"severity, what was expected and what is there, and the name of the rule.\n\n"
	"An error is damage: bytes or meaning are lost. A warning: the writer did something wrong, but what it meant "
	"is clear. A note: legal, and worth knowing.\n\n"
	"With filters all of the trace is checked, and the findings are listed that are about what passes them: whose "
	"record makes such an event, or stands right before or behind one, and errors behind the last event: nobody "
	"knows what is missing there. That is so of the first 100,000 findings of each rule, with --all of the first "
	"million; how many come after those is told.",
    .examples =
	"trackway check app.xray\tLists the findings and counts them.\n"
	"trackway check --json *.xray\tThe same for scripts.\n"
	"trackway check --thread 812 --from-time 1s app.xray\tWhat is wrong with a thread from the second second on.\n"
	"trackway check --rules\tWhat is checked.\n",
    .groups = groups,
    TW_FORMS_OF_LINES,
    .size = sizeof(struct check_options),
    .run = run,
    .manual = tw_put_rules_manual,
};
