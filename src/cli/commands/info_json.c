/* info_json.c - what is in a trace, as a line of JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/info.h"
#include "cli/output/fields.h"

/* Where there is no clock, times are counts of instructions, and called so. */
static void put_span_json(struct tw_json *json, const struct tw_info_view *view, uint64_t start, uint64_t end)
{
	bool counts = tw_reader_clock(view->reader)->instructions;
	tw_json_u64(json, counts ? "start_instructions" : "start_ns", start);
	tw_json_u64(json, counts ? "end_instructions" : "end_ns", end);
}

/* null where it is not known. */
static void put_name(struct tw_json *json, const char *key, const struct tw_name *name)
{
	tw_json_text(json, key, name->length ? name->text : NULL);
}

/* The threads of a part have events. */
static void put_threads_json(struct tw_json *json, const struct tw_info_view *view,
                             const struct tw_thread_info *threads, size_t count, bool part)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(view->reader);
	tw_json_array(json, "thread_list");
	for (size_t i = 0; i < count; i++) {
		tw_json_object(json, NULL);
		tw_json_task(json, "process", threads[i].process);
		tw_json_task(json, "thread", threads[i].thread);
		tw_json_u64(json, part ? "events" : "records", threads[i].records);
		if (!part)
			tw_json_u64(json, "bytes", threads[i].bytes);
		put_span_json(json, view, threads[i].start_ns, threads[i].end_ns);
		if (threads[i].os_thread)
			tw_json_u64(json, "os_thread_id", threads[i].os_thread);
		put_name(json, "thread_name",
		         tw_dictionary_thread_name(dictionary, threads[i].process, threads[i].thread));
		put_name(json, "process_name", tw_dictionary_process_name(dictionary, threads[i].process));
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
}

static void put_list_json(struct tw_json *json, const struct tw_info_list *list)
{
	tw_json_array(json, list->name);
	for (size_t row = 0; row < list->rows; row++) {
		tw_json_object(json, NULL);
		for (size_t i = 0; i < list->columns; i++)
			tw_put_field_json(json, &list->fields[row * list->columns + i]);
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
}

static void put_findings_json(struct tw_json *json, const struct tw_reader *reader)
{
	tw_json_u64(json, "errors", tw_reader_findings(reader, TW_ERROR));
	tw_json_u64(json, "warnings", tw_reader_findings(reader, TW_WARNING));
	tw_json_u64(json, "notes", tw_reader_findings(reader, TW_NOTE));
}

void tw_info_put_json(struct tw_output *out, const struct tw_info_view *view)
{
	const struct tw_info *info = &view->info;
	struct tw_json json = {.out = out};
	tw_json_object(&json, NULL);
	tw_json_text(&json, "file", view->path);
	tw_json_text(&json, "format", info->format);
	tw_json_u64(&json, "version", info->version);
	tw_json_u64(&json, "bytes", info->bytes);
	tw_json_u64(&json, "records", info->records);
	if (info->events != UINT64_MAX)
		tw_json_u64(&json, "events", info->events);
	tw_json_u64(&json, "threads", info->thread_count);
	tw_json_u64(&json, "processes", info->processes);
	put_span_json(&json, view, view->part ? view->part->start_ns : 0,
	              view->part ? view->part->end_ns : info->span_ns);
	if (!tw_reader_clock(view->reader)->instructions)
		tw_json_u64(&json, "clock_start_ns", info->clock_start_ns);
	tw_json_u64(&json, "lost_bytes", info->lost_bytes);
	put_findings_json(&json, view->reader);
	tw_json_object(&json, "kinds");
	for (size_t i = 0; i < info->kind_count; i++)
		tw_json_u64(&json, info->kinds[i].kind, info->kinds[i].count);
	tw_json_object_end(&json);
	for (size_t i = 0; i < info->field_count; i++)
		tw_put_field_json(&json, &info->fields[i]);
	for (size_t i = 0; i < info->list_count; i++)
		put_list_json(&json, &info->lists[i]);
	if (view->part) {
		tw_json_u64(&json, "functions", view->part->functions);
		put_threads_json(&json, view, view->part->threads, view->part->thread_count, true);
	} else {
		put_threads_json(&json, view, info->threads, info->thread_count, false);
	}
	tw_json_object_line_end(&json);
}
