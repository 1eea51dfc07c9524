/* load.c - trackway load: traces into a server of ClickHouse. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "load/load.h"

#include "base/memory/map.h"
#include "base/text/json.h"
#include "base/threads/parallel.h"
#include "cli/files/walk.h"
#include "cli/load/source.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARDS = 64, TIMEOUT = 60, FINDINGS = 1000 /* of each rule */ };

struct load_options {
	struct tw_common common;
	struct tw_list to, labels;
	const char *id, *day;
	uint64_t timeout;
	bool replicated;
};

struct shards {
	struct load_address addresses[SHARDS];
	struct load_wish wishes[SHARDS];
	size_t count;
};

/* What all files have in common. */
struct loading {
	const struct load_options *options;
	struct shards shards;
	const char **keys, **values; /* of the labels */
	char *label_texts;
	char **paths;
	size_t count;
	atomic_size_t next;
	atomic_int status;
	unsigned workers;
};

/* One file. */
struct one {
	struct loading *loading;
	const struct load_wish *wish;
	struct tw_source_facts facts;
	struct tw_clickhouse_day day;
	struct load_trace *trace;
};

/* ---- Messages. ---- */

static const char *day_source(const char *from)
{
	static const struct {
		const char *from, *text;
	} texts[] = {{"given", ""}, {"clock", ", by its clock"}, {"file", ", when the file was changed"}};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(texts[i].from, from) == 0)
			return texts[i].text;
	return ", as nothing tells its day";
}

static void say_loaded(const struct one *one, const char *path)
{
	const struct load_summary *summary = load_trace_summary(one->trace);
	char before[64] = "";
	if (summary->there_rows)
		snprintf(before, sizeof before, ", %s were there", tw_show_plural(summary->there_rows, "row").text);
	tw_say("%s: %s loaded%s; day %s%s", tw_shown_path(path), tw_show_plural(summary->rows, "row").text, before,
	       tw_day_show(one->day.day).text, day_source(one->day.day_from));
}

static int put_json(const struct one *one, const char *path)
{
	const struct load_summary *summary = load_trace_summary(one->trace);
	struct tw_screen screen = {0};
	struct tw_json json = {.out = &screen.out};
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	tw_json_object(&json, NULL);
	tw_json_text(&json, "file", tw_shown_path(path));
	tw_json_text(&json, "trace", one->facts.options.trace);
	tw_json_text(&json, "day", tw_day_show(one->day.day).text);
	tw_json_text(&json, "day_from", one->day.day_from);
	tw_json_text(&json, "host", one->wish->address->hosts[0]);
	tw_json_u64(&json, "rows", summary->rows);
	tw_json_u64(&json, "blocks", summary->blocks);
	tw_json_u64(&json, "rows_before", summary->there_rows);
	tw_json_u64(&json, "blocks_before", summary->there_blocks);
	tw_json_object_line_end(&json);
	return tw_screen_close(&screen);
}

static int report_all(const struct one *one, const char *path)
{
	if (one->loading->options->common.forms.json)
		return put_json(one, path);
	say_loaded(one, path);
	return 0;
}

/* A failure, and what there is in spite of it. */
static int say_failure(const struct one *one, const char *path, const char *error)
{
	const struct load_summary *summary = one->trace ? load_trace_summary(one->trace) : NULL;
	uint64_t blocks = summary ? summary->blocks + summary->there_blocks : 0;
	uint64_t rows = summary ? summary->rows + summary->there_rows : 0;
	if (!blocks)
		return tw_say_error("%s: %s", tw_shown_path(path), error);
	return tw_say_error("%s: %s; %s of %s of it are on the server, and the same command goes on from there",
	                    tw_shown_path(path), error, tw_show_plural(blocks, "block").text,
	                    tw_show_plural(rows, "row").text);
}

/* ---- One file. ---- */

static int write_trace(struct one *one, struct tw_reader *reader, const char *path)
{
	const struct tw_write_options options = {.clickhouse = &one->facts.options};
	const struct tw_sink sink = load_trace_sink(one->trace);
	struct tw_writer *writer = NULL;
	struct tw_copied copied = {0};
	int status = tw_create_sink(&writer, &sink, "clickhouse", &options);
	if (status == 0)
		status =
		    tw_copy_events(reader, writer,
		                   one->loading->workers > 1 ? 1 : tw_jobs(&one->loading->options->common), &copied);
	if (status == 0 && load_trace_finish(one->trace) < 0)
		status = say_failure(one, path, load_trace_error(one->trace));
	else if (status == 0 && copied.written < 0)
		status = say_failure(one, path, tw_writer_error(writer));
	else if (status == 0)
		status = report_all(one, path);
	tw_discard(writer);
	return status;
}

/* Blocks of one trace with two days would be in two partitions: the later command keeps the day of the first. */
static int keep_day(struct one *one, const char *path)
{
	uint32_t there = load_trace_day(one->trace);
	if (there && one->facts.options.day && there != one->facts.options.day)
		return tw_say_error("%s: it is on the server under the day %s, not %s", tw_shown_path(path),
		                    tw_day_show(there).text, tw_day_show(one->facts.options.day).text);
	if (there)
		one->facts.options.day = there;
	return 0;
}

static int load_open(struct one *one, struct tw_reader *reader, const char *path)
{
	const struct load_summary *summary = load_trace_summary(one->trace);
	int status = keep_day(one, path);
	if (status == 0 && summary->complete) {
		one->day = (struct tw_clickhouse_day){load_trace_day(one->trace), "given"};
		return report_all(one, path);
	}
	return status ? status : write_trace(one, reader, path);
}

static int check_id(const struct one *one, const char *path)
{
	if (!*one->facts.options.trace)
		return tw_say_error("%s: no regular file, whose bytes would tell which trace it is: --id ID does",
		                    tw_shown_path(path));
	return 0;
}

static const struct load_wish *shard_of(const struct loading *loading, const char *trace)
{
	return &loading->shards.wishes[tw_mix_bytes(trace, strlen(trace), 0) % loading->shards.count];
}

static int load(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct loading *loading = walk->context;
	const struct load_options *options = loading->options;
	struct one one = {.loading = loading, .day.day_from = "nowhere"};
	int status = tw_source_find(&one.facts, path, &walk->findings);
	if (options->id)
		one.facts.options.trace = options->id;
	one.facts.options.day = options->day ? tw_day_parse(options->day) : 0;
	one.facts.options.chosen_day = &one.day;
	one.facts.options.label_keys = loading->keys;
	one.facts.options.label_values = loading->values;
	one.facts.options.label_count = options->labels.count;
	status = status ? status : check_id(&one, path);
	if (status)
		return status;
	one.wish = shard_of(loading, one.facts.options.trace);
	if (load_trace_open(&one.trace, one.wish, one.facts.options.trace) < 0)
		status = say_failure(&one, path, load_trace_error(one.trace));
	else
		status = load_open(&one, reader, path);
	load_trace_close(one.trace);
	return status;
}

/* ---- All files. ---- */

static void load_files(void *context, unsigned worker)
{
	struct loading *loading = context;
	size_t i;
	(void)worker;
	while ((i = atomic_fetch_add(&loading->next, 1)) < loading->count) {
		struct tw_walk walk = {
		    .common = &loading->options->common,
		    .options = {.order = tw_writer_order("clickhouse"), .names_ahead = true},
		    .findings.limit = FINDINGS,
		    .quiet = loading->workers > 1,
		    .context = loading,
		    .read = load,
		};
		char *path = loading->paths[i];
		int status = tw_walk(&walk, &path, 1), worst = atomic_load(&loading->status);
		while (worst < status && !atomic_compare_exchange_weak(&loading->status, &worst, status))
			;
	}
}

static int load_all(struct loading *loading)
{
	char error[LOAD_ERROR];
	for (size_t i = 0; i < loading->shards.count; i++)
		if (load_prepare(&loading->shards.wishes[i], error) < 0)
			return tw_say_error("database %s: %s", loading->shards.addresses[i].database, error);
	unsigned jobs = tw_jobs(&loading->options->common);
	jobs = jobs ? jobs : tw_processors();
	loading->workers = loading->count < jobs ? (unsigned)loading->count : jobs;
	tw_parallel(loading->workers, load_files, loading);
	return atomic_load(&loading->status);
}

/* ---- The command. ---- */

static int take_shards(struct loading *loading)
{
	const struct load_options *options = loading->options;
	if (options->to.count == 0)
		return tw_say_usage(&tw_command_load, "load wants --to clickhouse://HOST:PORT/DATABASE");
	if (options->to.count > SHARDS)
		return tw_say_usage(&tw_command_load, "--to: more than %d shards", SHARDS);
	for (size_t i = 0; i < options->to.count; i++) {
		struct load_address *address = &loading->shards.addresses[i];
		const char *wrong = load_address_parse(address, options->to.items[i]);
		if (wrong)
			return tw_say_usage(&tw_command_load, "--to: %s", wrong);
		loading->shards.wishes[i] = (struct load_wish){
		    .address = address,
		    .timeout = options->timeout ? (unsigned)options->timeout : TIMEOUT,
		    .replicated = options->replicated,
		};
	}
	loading->shards.count = options->to.count;
	return 0;
}

static int take_labels(struct loading *loading)
{
	const struct tw_list *labels = &loading->options->labels;
	size_t size = 0;
	for (size_t i = 0; i < labels->count; i++)
		size += strlen(labels->items[i]) + 1;
	loading->keys = calloc(labels->count + 1, sizeof *loading->keys);
	loading->values = calloc(labels->count + 1, sizeof *loading->values);
	char *text = loading->label_texts = malloc(size + 1);
	if (!loading->keys || !loading->values || !text)
		return tw_say_error("out of memory");
	for (size_t i = 0; i < labels->count; i++) {
		char *equals = stpcpy(text, labels->items[i]), *end = equals;
		equals = strchr(text, '=');
		if (!equals || equals == text)
			return tw_say_usage(&tw_command_load, "--label %s: no KEY=VALUE", labels->items[i]);
		*equals = '\0';
		loading->keys[i] = text;
		loading->values[i] = equals + 1;
		text = end + 1;
	}
	return 0;
}

static int check_options(const struct load_options *options, size_t count)
{
	if (options->id && count > 1)
		return tw_say_usage(&tw_command_load, "--id is of one trace, not of %zu", count);
	if (options->id && !load_is_id(options->id))
		return tw_say_usage(&tw_command_load, "--id: up to 127 letters, digits and ._:@/+-");
	if (options->day && !tw_day_parse(options->day))
		return tw_say_usage(&tw_command_load, "--day %s: no day as 2026-11-29", options->day);
	return 0;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct load_options *options = (const struct load_options *)common;
	struct loading *loading = calloc(1, sizeof *loading);
	if (!loading)
		return tw_say_error("out of memory");
	loading->options = options;
	loading->paths = operands;
	loading->count = count;
	int status = check_options(options, count);
	status = status ? status : take_shards(loading);
	status = status ? status : take_labels(loading);
	status = status ? status : load_all(loading);
	free(loading->keys);
	free(loading->values);
	free(loading->label_texts);
	free(loading);
	return status;
}

static const struct tw_option own_options[] = {
    {"to", 0, TW_OPTION_LIST, offsetof(struct load_options, to), .placeholder = "ADDRESS",
     .help = "the database: clickhouse://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE, the port of HTTP, else 8123; "
             "HOST:PORT,HOST:PORT for replicas, of which one that answers is taken. Given again, it is another shard: "
             "each trace goes to one of them, always the same"},
    {"label", 0, TW_OPTION_LIST, offsetof(struct load_options, labels), .placeholder = "KEY=VALUE",
     .help = "a label of these traces, to choose and group them by; may be repeated"},
    {"id", 0, TW_OPTION_TEXT, offsetof(struct load_options, id), .placeholder = "ID",
     .help = "how the trace is known, instead of the SHA-256 of its bytes; a pipe needs it"},
    {"day", 0, TW_OPTION_TEXT, offsetof(struct load_options, day), .placeholder = "YYYY-MM-DD",
     .help = "the day of the traces, UTC; otherwise that of the trace's clock, or else that on which the file was "
             "changed"},
    {"replicated", 0, TW_OPTION_FLAG, offsetof(struct load_options, replicated),
     .help = "make the tables replicated, on each host of an address, by the macros shard and replica of the servers"},
    {"timeout", 0, TW_OPTION_COUNT, offsetof(struct load_options, timeout), .placeholder = "SECONDS", .least = 1,
     .most = 86400, .help = "give up when the server is silent for so long; otherwise 60"},
    {"json", 0, TW_OPTION_FLAG, offsetof(struct tw_common, forms.json),
     .help = "tell on standard output what was loaded, a line of JSON for each trace"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Database", own_options), &tw_jobs_options, &tw_input_options);

const struct tw_command tw_command_load = {
    .name = "load",
    .summary = "traces into a server of ClickHouse",
    .operands = "FILE... --to clickhouse://HOST:PORT/DATABASE",
    .description =
	"Loads traces of any formats into tables of ClickHouse: trace, slice, counter, sched, sample, log, argument, "
	"finding. The database and its tables are made where they are not there, and get the columns that they "
	"lack.\n\n"
	"Each trace is loaded once: it is known by the SHA-256 of its bytes, and the server is asked what it has "
	"of it. After a loader was killed, a server died or a disk was full, the same command goes on, and nothing is "
	"there twice. A trace is complete when its row in the table trace is there.\n\n"
	"Several files are loaded at once. What is sent has gzip's compression. Ready queries and a dashboard for "
	"Grafana are in share/trackway/clickhouse.",
    .exit_status = "0: all is loaded. 1: so it is, and a trace is damaged: the table finding has where. 2: something "
		   "is not loaded; the message tells what is.",
    .examples = "trackway load --to clickhouse://db1/traces --label host=web1 app.fxt\tOne trace, with a label.\n"
		"trackway load --to clickhouse://db1/t --to clickhouse://db2/t *.fxt.zst\tMany, on two shards.\n"
		"cat app.fxt | trackway load --to clickhouse://db1/traces --id web1-7 -\tA pipe.\n",
    .groups = groups,
    .size = sizeof(struct load_options),
    .least = 1,
    .run = run,
};
