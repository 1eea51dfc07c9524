/* reader.c - an xray-profiling log as samples, as records, and in sum.
 *
 * Each path of functions that a thread called becomes one sample: how often it was called, and what it took by itself.
 * The log tells the time of a path with what was called on it; that of these is taken off once all are known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "core/filter/wanted.h"
#include "core/text/function_name.h"
#include "core/ticks.h"
#include "profiling/profiling.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Events. ---- */

static int add_gap(struct tw_reader *reader, const struct profiling_item *item)
{
	struct profiling_reader *profiling = reader->state;
	if (profiling->gaps.count == PROFILING_MOST_GAPS) {
		profiling->gaps.items[profiling->gaps.count - 1].size += item->size;
		return 0;
	}
	if (!tw_grow(&profiling->gaps.items, &profiling->gaps.room, profiling->gaps.count + 1,
	             sizeof *profiling->gaps.items))
		return TW_ERR_MEMORY;
	profiling->gaps.items[profiling->gaps.count++] = (struct profiling_gap){item->offset, item->size};
	return 0;
}

static uint32_t add_track(struct tw_reader *reader)
{
	const struct profiling_walk *walk = &((struct profiling_reader *)reader->state)->walk;
	const struct tw_track track = {.kind = TW_TRACK_THREAD,
	                               .process = walk->header.process,
	                               .thread = walk->block.thread};
	return tw_dictionary_add_track(reader->dictionary, &track);
}

static int add_item(struct tw_reader *reader, uint32_t *track, const struct profiling_item *item)
{
	struct profiling_reader *profiling = reader->state;
	if (item->kind == PROFILING_GAP)
		return add_gap(reader, item);
	if (!tw_thread_wanted(&reader->options, profiling->walk.block.thread))
		return 0;
	if (item->kind == PROFILING_PATH)
		return profiling_paths_add(reader, &profiling->paths, *track, item);
	*track = add_track(reader);
	return *track == UINT32_MAX ? TW_ERR_MEMORY : 0;
}

/* Why a log may hold nothing: doc/formats/xray-profiling.md. */
static void report_empty(struct tw_reader *reader, bool empty)
{
	const uint64_t end = tw_input_size(reader->input);
	if (empty)
		tw_report(
		    reader, &profiling_rules[PROFILING_NO_PATHS], PROFILING_HEADER_SIZE, PROFILING_HEADER_SIZE, 0,
		    "there are no paths: nothing was patched while the mode was on, or the log was written before "
		    "the threads had ended and __xray_log_finalize() was called");
	if (tw_input_damaged(reader->input))
		tw_report(reader, &profiling_rules[PROFILING_COMPRESSION], end, end, 0, "%s",
		          tw_input_damage(reader->input));
}

static int read_log(struct tw_reader *reader)
{
	struct profiling_reader *profiling = reader->state;
	struct profiling_item item;
	uint32_t track = 0;
	uint64_t paths = 0;
	int status = profiling_known_load(reader, &profiling->known);
	if (status < 0)
		return tw_fail_memory(reader);
	while ((status = profiling_walk_next(reader, &profiling->walk, &item)) > 0) {
		paths += item.kind == PROFILING_PATH;
		status = profiling_is_known(&profiling->known, &profiling->walk, &item);
		status = status == 0 ? add_item(reader, &track, &item) : status;
		if (status < 0)
			return tw_fail_memory(reader);
	}
	if (status < 0)
		return status;
	profiling_paths_settle(reader, &profiling->paths);
	report_empty(reader, paths == 0);
	profiling->is_read = true;
	return 0;
}

static struct tw_event make_row(const struct profiling_node *node, struct tw_ticks *clock)
{
	const uint64_t self = node->ticks > node->below ? node->ticks - node->below : 0;
	return (struct tw_event){
	    .kind = TW_STACK_SAMPLE,
	    .offset = node->offset,
	    .value = node->calls,
	    .id = tw_ticks_ns(clock, self),
	    .other = node->stack,
	    .track = node->track,
	};
}

/* Samples and gaps by where they come from. */
static int profiling_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct profiling_reader *profiling = reader->state;
	const struct profiling_paths *paths = &profiling->paths;
	struct tw_ticks clock;
	size_t rows = 0;
	int status = profiling->is_read ? 0 : read_log(reader);
	if (status < 0)
		return status;
	tw_ticks_set(&clock, profiling->frequency ? profiling->frequency : TW_NS_PER_SECOND);
	while (rows < PROFILING_ROWS) {
		const struct profiling_gap *gap = profiling->gaps.given < profiling->gaps.count
		                                      ? &profiling->gaps.items[profiling->gaps.given]
		                                      : NULL;
		const struct profiling_node *node =
		    profiling->given < paths->count ? &paths->nodes[profiling->given] : NULL;
		if (!gap && !node)
			break;
		if (gap && (!node || gap->offset < node->offset)) {
			profiling->events[rows++] =
			    (struct tw_event){.kind = TW_LOST, .offset = gap->offset, .value = gap->size};
			profiling->gaps.given++;
			continue;
		}
		if (node->calls)
			profiling->events[rows++] = make_row(node, &clock);
		profiling->given++;
	}
	*batch = (struct tw_batch){profiling->events, rows, NULL};
	return (int)rows;
}

/* ---- Records. ---- */

static const char *const kinds[PROFILING_KINDS] = {[PROFILING_KIND_BLOCK] = "block", [PROFILING_KIND_PATH] = "path"};

/* The names of a path, the outermost first, with ';' between them. */
static bool write_path(struct tw_reader *reader, const struct profiling_path *path, struct tw_text *text)
{
	text->length = 0;
	for (size_t i = path->depth; i-- > 0;) {
		uint32_t number = tw_function_name(reader, profiling_path_id(path, i));
		if (number == UINT32_MAX)
			return false;
		const struct tw_name *name = tw_dictionary_name(reader->dictionary, number);
		if (!tw_text_add(text, name->text, name->length) || (i && !tw_text_add(text, ";", 1)))
			return false;
	}
	return true;
}

static size_t fill_fields(struct tw_reader *reader, const struct profiling_item *item)
{
	struct profiling_reader *profiling = reader->state;
	const struct profiling_block *block = &profiling->walk.block;
	struct tw_field *fields = profiling->fields;
	if (item->kind == PROFILING_BLOCK) {
		fields[0] = (struct tw_field){.name = "size", .type = TW_FIELD_UINT, .value.u = block->size};
		fields[1] = (struct tw_field){.name = "number", .type = TW_FIELD_UINT, .value.u = block->number};
		fields[2] = (struct tw_field){.name = "thread_id", .type = TW_FIELD_UINT, .value.u = block->thread};
		return 3;
	}
	if (!write_path(reader, &item->path, &profiling->text))
		return 0;
	fields[0] = (struct tw_field){.name = "thread_id", .type = TW_FIELD_UINT, .value.u = block->thread};
	fields[1] = (struct tw_field){.name = "path",
	                              .type = TW_FIELD_TEXT,
	                              .value.bytes = profiling->text.bytes,
	                              .size = profiling->text.length};
	fields[2] = (struct tw_field){.name = "calls", .type = TW_FIELD_UINT, .value.u = item->path.calls};
	fields[3] = (struct tw_field){.name = "ticks", .type = TW_FIELD_UINT, .value.u = item->path.ticks};
	return 4;
}

static int profiling_read_record(struct tw_reader *reader, struct tw_record *record)
{
	struct profiling_reader *profiling = reader->state;
	struct profiling_item item;
	bool wanted = true;
	int status = 0;
	if (reader->filtering.filter && !profiling->wanted)
		status = tw_wanted_new(&profiling->wanted, reader, false);
	if (status < 0)
		return status;
	do {
		status = profiling_walk_next(reader, &profiling->walk, &item);
		if (status <= 0)
			return status;
		wanted = item.kind != PROFILING_GAP &&
		         tw_thread_wanted(&reader->options, profiling->walk.block.thread) &&
		         (!profiling->wanted || tw_is_wanted(profiling->wanted, item.offset));
	} while (!wanted);
	const size_t count = fill_fields(reader, &item);
	*record = (struct tw_record){
	    .kind = kinds[item.kind == PROFILING_BLOCK ? PROFILING_KIND_BLOCK : PROFILING_KIND_PATH],
	    .offset = item.offset,
	    .size = item.size,
	    .fields = profiling->fields,
	    .field_count = count,
	};
	return count ? 1 : tw_fail_memory(reader);
}

/* ---- In sum. ---- */

static int compare_threads(const void *left, const void *right)
{
	const struct tw_thread_info *a = left, *b = right;
	int order = tw_compare(a->process, b->process);
	return order ? order : tw_compare(a->thread, b->thread);
}

static bool same_thread(const struct tw_thread_info *thread, uint64_t process, uint64_t number)
{
	return thread->process == process && thread->thread == number;
}

/* A thread may have several blocks. */
static void join_threads(struct profiling_reader *profiling)
{
	struct tw_thread_info *threads = profiling->threads.items;
	size_t kept = 0;
	if (profiling->threads.count)
		qsort(threads, profiling->threads.count, sizeof *threads, compare_threads);
	for (size_t i = 0; i < profiling->threads.count; i++) {
		if (kept && same_thread(&threads[kept - 1], threads[i].process, threads[i].thread)) {
			threads[kept - 1].records += threads[i].records;
			threads[kept - 1].bytes += threads[i].bytes;
		} else {
			threads[kept++] = threads[i];
		}
	}
	profiling->threads.count = kept;
}

/* Room for one more: a thread may have many blocks, which are joined before there is more room. */
static bool make_room(struct profiling_reader *profiling)
{
	if (profiling->threads.count < profiling->threads.room)
		return true;
	join_threads(profiling);
	return tw_grow(&profiling->threads.items, &profiling->threads.room, 2 * profiling->threads.count + 1,
	               sizeof *profiling->threads.items);
}

static bool count_block(struct profiling_reader *profiling)
{
	const uint64_t process = profiling->walk.header.process, thread = profiling->walk.block.thread;
	if (profiling->threads.count &&
	    same_thread(&profiling->threads.items[profiling->threads.count - 1], process, thread))
		return true;
	if (!make_room(profiling))
		return false;
	profiling->threads.items[profiling->threads.count++] =
	    (struct tw_thread_info){.process = process, .thread = thread};
	return true;
}

static int count_items(struct tw_reader *reader, struct tw_info *info, uint64_t counts[PROFILING_KINDS],
                       uint64_t *calls)
{
	struct profiling_reader *profiling = reader->state;
	struct profiling_item item;
	int status;
	while ((status = profiling_walk_next(reader, &profiling->walk, &item)) > 0) {
		if (item.kind == PROFILING_GAP)
			info->lost_bytes += item.size;
		if (item.kind == PROFILING_GAP || !tw_thread_wanted(&reader->options, profiling->walk.block.thread))
			continue;
		if (item.kind == PROFILING_BLOCK && !count_block(profiling))
			return tw_fail_memory(reader);
		struct tw_thread_info *thread = &profiling->threads.items[profiling->threads.count - 1];
		thread->bytes += item.size;
		thread->records++;
		counts[item.kind == PROFILING_BLOCK ? PROFILING_KIND_BLOCK : PROFILING_KIND_PATH]++;
		if (item.kind == PROFILING_PATH)
			*calls = tw_sum(*calls, item.path.calls);
	}
	return status;
}

/* Writes when the log was written, as ISO 8601 has it. Returns how long that is. */
static size_t fill_time(struct profiling_reader *profiling)
{
	const time_t seconds = (time_t)(profiling->first.time_ns / TW_NS_PER_SECOND);
	struct tm time;
	return gmtime_r(&seconds, &time) ? strftime(profiling->written, sizeof profiling->written, "%FT%TZ", &time) : 0;
}

static void fill_info_fields(struct profiling_reader *profiling, struct tw_info *info, uint64_t calls)
{
	const struct profiling_header *header = &profiling->first;
	const char *order = header->big ? "big" : "little";
	const struct tw_field fields[] = {
	    {.name = "byte_order", .type = TW_FIELD_TEXT, .value.bytes = order, .size = strlen(order)},
	    {.name = "process_id", .type = TW_FIELD_UINT, .value.u = header->process},
	    {.name = "written", .type = TW_FIELD_TEXT, .value.bytes = profiling->written, .size = fill_time(profiling)},
	    {.name = "calls", .type = TW_FIELD_UINT, .value.u = calls},
	};
	memcpy(profiling->sums, fields, sizeof fields);
	info->fields = profiling->sums;
	info->field_count = sizeof fields / sizeof *fields;
}

static int profiling_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	struct profiling_reader *profiling = reader->state;
	uint64_t counts[PROFILING_KINDS] = {0}, calls = 0;
	(void)jobs;
	int status = count_items(reader, info, counts, &calls);
	if (status < 0)
		return status;
	report_empty(reader, counts[PROFILING_KIND_PATH] == 0 && !reader->options.thread_count);
	join_threads(profiling);
	for (size_t i = 0; i < PROFILING_KINDS; i++)
		if (counts[i])
			profiling->kinds[info->kind_count++] = (struct tw_kind_count){kinds[i], counts[i]};
	info->version = (unsigned)profiling->first.version;
	info->kinds = profiling->kinds;
	info->bytes = tw_input_size(reader->input);
	info->records = counts[PROFILING_KIND_BLOCK] + counts[PROFILING_KIND_PATH];
	info->events = counts[PROFILING_KIND_PATH];
	info->threads = profiling->threads.items;
	info->thread_count = profiling->threads.count;
	for (size_t i = 0; i < profiling->threads.count; i++)
		info->processes +=
		    i == 0 || profiling->threads.items[i].process != profiling->threads.items[i - 1].process;
	fill_info_fields(profiling, info, calls);
	return 0;
}

/* ---- The entry. ---- */

static int profiling_open(struct tw_reader *reader)
{
	struct profiling_reader *profiling = calloc(1, sizeof *profiling);
	reader->state = profiling;
	if (!profiling)
		return tw_fail_memory(reader);
	int status = reader->options.order == TW_ORDER_FILE ? 0 : profiling_look_behind(reader);
	if (status >= 0)
		status = profiling_walk_open(reader, &profiling->walk);
	if (status < 0)
		return status;
	profiling->first = profiling->walk.header;
	const uint64_t written = profiling->first.time_ns;
	profiling->frequency = reader->options.frequency;
	reader->clock.ticks_per_second = profiling->frequency;
	reader->clock.has_wall = written && written <= INT64_MAX;
	reader->clock.wall_ns = reader->clock.has_wall ? (int64_t)written : 0;
	return 0;
}

static void profiling_close(struct tw_reader *reader)
{
	struct profiling_reader *profiling = reader->state;
	profiling_walk_free(&profiling->walk);
	profiling_paths_free(&profiling->paths);
	profiling_known_free(&profiling->known);
	tw_wanted_free(profiling->wanted);
	tw_text_free(&profiling->text);
	free(profiling->gaps.items);
	free(profiling->threads.items);
	free(profiling);
}

static int probe(const uint8_t *bytes, size_t size)
{
	bool big;
	return size >= 8 && profiling_is_log(bytes, &big) ? 100 : 0;
}

const struct tw_format tw_format_profiling = {
    .name = "xray-profiling",
    .title = "XRay profiling mode log (LLVM, xray-profiling)",
    .rules = profiling_rules,
    .rule_count = PROFILING_RULES,
    .traits =
	{
	    .copy_order = TW_ORDER_FILE,
	    .summed = true,
	    .takes_frequency = true,
	},
    .files =
	{
	    .probe = probe,
	},
    .reading =
	{
	    .open = profiling_open,
	    .read = profiling_read,
	    .read_record = profiling_read_record,
	    .close = profiling_close,
	},
    .survey =
	{
	    .info = profiling_info,
	},
    .rewriting =
	{
	    .repair = profiling_repair,
	},
};
