/* walk.c - a command's way through its files: open, read, tell what was found, show. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/walk.h"

#include "cli/files/single_read.h"
#include "cli/options/names.h"
#include "cli/output/message.h"
#include "cli/output/progress.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <stdlib.h>

/* ---- Findings of commands that do not list them. ---- */

static void put_finding(void *context, const struct tw_kept *kept)
{
	(void)context;
	const char *path = kept->file, *severity = tw_severity_name(kept->severity);
	if (kept->line)
		tw_say("%s: line %llu, column %llu: %s: %s [%s]", path, (unsigned long long)kept->line,
		       (unsigned long long)kept->column, severity, kept->text, kept->rule);
	else
		tw_say("%s: offset 0x%llx: %s: %s [%s]", path, (unsigned long long)kept->record, severity, kept->text,
		       kept->rule);
}

static void put_more(void *context, const char *rule, uint64_t count)
{
	tw_say("%s: ... and %s more of %s", (const char *)context, tw_show_count(count).text, rule);
}

int tw_say_findings(const struct tw_findings *findings, const char *path)
{
	const struct tw_findings_list list = {.put = put_finding,
	                                      .more = put_more,
	                                      .context = (void *)(uintptr_t)tw_shown_path(path)};
	if (tw_findings_each(findings, TW_WARNING, &list))
		return 0;
	return tw_say_error("%s: out of memory: some findings are missing", tw_shown_path(path));
}

/* ---- One file. ---- */

static int read_reader(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct tw_progress progress = {0};
	if (!walk->quiet)
		tw_progress_start(&progress, reader, tw_shown_path(path));
	int status = walk->read(walk, reader, path);
	tw_progress_stop(&progress);
	return status;
}

/* What a command sifts is opened as a whole, because what belongs together may be of several threads and providers; not
 * where threads are independent, or in files of their own: there the reader knows best whose a finding is. */
static int open_file(struct tw_walk *walk, const char *path, struct tw_reader **reader)
{
	struct tw_read_options whole = walk->options;
	if (walk->filters_findings) {
		whole.thread_count = 0;
		whole.provider = NULL;
	}
	int status = tw_open(reader, path, &whole);
	bool same = whole.thread_count == walk->options.thread_count;
	if (status < 0 || same || !tw_reads_threads_apart(*reader))
		return status;
	tw_close(*reader);
	tw_findings_clear(&walk->findings);
	return tw_open(reader, path, &walk->options);
}

/* Finds the threads that are chosen in a file. Returns 0, or TW_EXIT_FAILED after saying why not. */
static int choose_threads(struct tw_walk *walk, char *path)
{
	struct tw_read_options chosen = walk->options;
	chosen.threads = walk->common->filter.threads.items;
	chosen.thread_count = walk->common->filter.threads.count;
	chosen.thread_processes = NULL;
	tw_who_free(&walk->who);
	int status = tw_who_choose(&walk->who, walk->common, path, false, &chosen);
	walk->chosen = (struct tw_read_options){
	    .threads = chosen.threads,
	    .thread_count = chosen.thread_count,
	    .thread_processes = chosen.thread_processes,
	};
	if (!walk->all_threads)
		walk->options = chosen;
	return status;
}

/* Numbers that come of samples look as others do. */
static void say_estimates(const struct tw_walk *walk, const struct tw_reader *reader, const char *path)
{
	const uint64_t bytes = tw_sampled_bytes(reader);
	const enum tw_weight weight = tw_weight_asked(walk->common);
	if (bytes && !walk->own_findings &&
	    (walk->allocations || weight == TW_WEIGHT_BYTES || weight == TW_WEIGHT_ALLOCATIONS))
		tw_say("%s: allocations are estimates, of samples: one about every %s", tw_shown_path(path),
		       tw_show_size(bytes).text);
}

static int read_file(struct tw_walk *walk, char *path)
{
	struct tw_reader *reader;
	int status = choose_threads(walk, path);
	if (status)
		return status;
	status = open_file(walk, path, &reader);
	if (status >= 0)
		status = read_reader(walk, reader, path);
	int said = walk->own_findings ? 0 : tw_say_findings(&walk->findings, path);
	walk->readable += status >= 0;
	if (status >= 0)
		say_estimates(walk, reader, path);
	if (status < 0)
		status = tw_say_failure(reader, status);
	else if (walk->show && status != TW_EXIT_FAILED)
		status = tw_worse(status, walk->show(walk, reader, path));
	if (reader && !walk->filters_findings && tw_reader_findings(reader, TW_ERROR))
		status = tw_worse(status, TW_EXIT_FINDINGS);
	tw_close(reader);
	tw_findings_clear(&walk->findings);
	return tw_worse(status, said);
}

/* ---- The options that all commands share. ---- */

void tw_take_options(const struct tw_common *common, bool filter_slices, struct tw_read_options *options)
{
	options->format = common->from;
	options->xtrace = &common->xtrace;
	options->threads = common->filter.threads.items;
	options->thread_count = common->filter.threads.names.count || tw_chooses(&common->filter.processes)
	                            ? 0
	                            : common->filter.threads.count;
	options->provider = common->filter.provider;
	options->category = common->filter.category;
	options->from_ns = common->filter.from_time;
	options->to_ns = common->filter.to_time;
	options->temporary_directory = tw_temporary_folder();
	options->memory_limit = (size_t)common->limits.memory;
	options->frequency = common->frequency;
	options->event_names = common->events.items;
	options->event_name_count = common->events.count;
	options->mangled = common->names.no_demangle;
	options->counts = common->counts;
	options->reorder_window = common->limits.reorder_window;
	options->fold_async = common->fold_async;
	options->pdb_folder = common->pdb_folder;
	options->jobs = tw_jobs(common);
	if (filter_slices) {
		options->function = common->filter.function;
		options->min_duration_ns = common->filter.min_duration;
	}
}

uint64_t tw_since_start(const struct tw_reader *reader, uint64_t time)
{
	uint64_t start = tw_reader_clock(reader)->start_ns;
	return time > start ? time - start : 0;
}

static bool wants_names(const struct tw_walk *walk)
{
	const struct tw_common *common = walk->common;
	return !walk->nameless || common->filter.function || common->names.binaries.count || common->names.maps ||
	       common->names.kallsyms || common->xtrace.layout;
}

int tw_walk(struct tw_walk *walk, char **paths, size_t count)
{
	struct tw_name_sources names = {0};
	count = tw_drop_same_traces(walk->common, paths, count);
	tw_take_options(walk->common, walk->filter_slices, &walk->options);
	if (walk->all_threads)
		walk->options.thread_count = 0;
	if (walk->filters_findings || walk->all_times)
		walk->options.from_ns = walk->options.to_ns = 0;
	if (walk->filters_findings)
		walk->options.category = NULL;
	walk->options.on_finding = tw_findings_add;
	walk->options.finding_context = &walk->findings;
	if (walk->findings.limit == 0)
		walk->findings.limit = TW_FINDINGS_SHOWN;
	for (size_t i = 0; wants_names(walk) && i < count; i++)
		tw_names_want(&names, walk->common, paths[i]);
	int status = walk->in_part && !wants_names(walk) ? tw_names_open_later(&names, walk->common, &walk->options)
	                                                 : tw_names_open(&names, walk->common, &walk->options);
	if (status == 0)
		for (size_t i = 0; i < count; i++) {
			walk->options.before = (const char *const *)paths;
			walk->options.before_count = walk->together ? i : 0;
			status = tw_worse(status, read_file(walk, paths[i]));
		}
	tw_names_close(&names);
	if (!walk->all_threads)
		tw_who_free(&walk->who);
	return status;
}
