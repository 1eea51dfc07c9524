/* info_text.c - what is in a trace, for people. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fields.h"
#include "cli/info.h"
#include "cli/show.h"
#include "cli/table.h"

#include <string.h>

enum { THREADS_SHOWN = 20, KEY_COLUMN = 20 };

/* "lost_bytes" as "lost bytes:", filled up to the values' column. */
static void put_key(struct tw_screen *screen, const char *key)
{
	size_t column = strlen(key) + 1;
	for (const char *p = key; *p; p++)
		tw_put_char(&screen->out, (char)(*p == '_' ? ' ' : *p));
	tw_put_char(&screen->out, ':');
	do
		tw_put_char(&screen->out, ' ');
	while (++column < KEY_COLUMN);
}

static void put_line(struct tw_screen *screen, const char *key, struct tw_shown value)
{
	put_key(screen, key);
	tw_put_text(&screen->out, value.text);
	tw_put_char(&screen->out, '\n');
}

static bool ends_with(const char *name, const char *ending)
{
	size_t length = strlen(name), tail = strlen(ending);
	return length >= tail && strcmp(name + length - tail, ending) == 0;
}

static void put_size(struct tw_screen *screen, uint64_t bytes)
{
	tw_put_text(&screen->out, tw_show_size(bytes).text);
	if (bytes >= 1024)
		tw_putf(&screen->out, " (%s bytes)", tw_show_count(bytes).text);
}

/* A field's name tells its unit: buffer_size is in bytes, cycle_frequency in Hz. */
static void put_value(struct tw_screen *screen, const struct tw_field *field)
{
	if (field->type == TW_FIELD_UINT && ends_with(field->name, "_size"))
		put_size(screen, field->value.u);
	else if (field->type == TW_FIELD_UINT)
		tw_putf(&screen->out, "%s%s", tw_show_count(field->value.u).text,
		        ends_with(field->name, "_frequency") ? " Hz" : "");
	else
		tw_put_field_text(&screen->out, field);
	tw_put_char(&screen->out, '\n');
}

static void put_damage(struct tw_screen *screen, const struct tw_info *info, const struct tw_reader *reader)
{
	uint64_t errors = tw_reader_findings(reader, TW_ERROR);
	put_key(screen, "damage");
	if (errors == 0 && info->lost_bytes == 0)
		tw_put_text(&screen->out, "none\n");
	else
		tw_putf(&screen->out, "%s, %s lost\n", tw_show_plural(errors, "error").text,
		        tw_show_plural(info->lost_bytes, "byte").text);
}

static void put_head(struct tw_screen *screen, const struct tw_info_view *view)
{
	const struct tw_info *info = &view->info;
	put_key(screen, "file");
	tw_put_safe(&screen->out, view->path, strlen(view->path));
	tw_put_char(&screen->out, '\n');
	put_key(screen, "format");
	tw_putf(&screen->out, "%s, version %u\n", info->format, info->version);
	put_key(screen, "size");
	put_size(screen, info->bytes);
	tw_put_char(&screen->out, '\n');
	put_line(screen, "span", tw_show_duration(info->span_ns));
	put_line(screen, "records", tw_show_count(info->records));
	put_line(screen, "events", tw_show_count(info->events));
	put_line(screen, "processes", tw_show_count(info->processes));
	put_line(screen, "threads", tw_show_count(info->thread_count));
	for (size_t i = 0; i < info->field_count; i++) {
		put_key(screen, info->fields[i].name);
		put_value(screen, &info->fields[i]);
	}
	put_damage(screen, info, view->reader);
}

static int put_kinds(struct tw_screen *screen, const struct tw_info *info)
{
	static const struct tw_column columns[] = {{"RECORDS", true}, {"KIND", false}};
	struct tw_table table = {.columns = columns, .column_count = 2};
	if (info->kind_count == 0)
		return 0;
	for (size_t i = 0; i < info->kind_count; i++) {
		tw_table_add(&table, tw_show_count(info->kinds[i].count).text);
		tw_table_add(&table, info->kinds[i].kind);
	}
	tw_put_char(&screen->out, '\n');
	return tw_table_put(&table, screen);
}

static int put_threads(struct tw_screen *screen, const struct tw_info *info, bool all)
{
	static const struct tw_column columns[] = {{"THREAD", true}, {"PROCESS", true}, {"RECORDS", true},
	                                           {"SIZE", true},   {"FROM", true},    {"TO", true}};
	struct tw_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
	size_t count = all || info->thread_count <= THREADS_SHOWN ? info->thread_count : THREADS_SHOWN;
	if (count == 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const struct tw_thread_info *thread = &info->threads[i];
		tw_table_add(&table, tw_show_id(thread->thread).text);
		tw_table_add(&table, tw_show_id(thread->process).text);
		tw_table_add(&table, tw_show_count(thread->records).text);
		tw_table_add(&table, tw_show_size(thread->bytes).text);
		tw_table_add(&table, tw_show_duration(thread->start_ns).text);
		tw_table_add(&table, tw_show_duration(thread->end_ns).text);
	}
	tw_put_char(&screen->out, '\n');
	int status = tw_table_put(&table, screen);
	if (count < info->thread_count)
		tw_putf(&screen->out, "... and %s more; --all shows them\n",
		        tw_show_count(info->thread_count - count).text);
	return status;
}

int tw_info_put_text(struct tw_screen *screen, const struct tw_info_view *view)
{
	put_head(screen, view);
	int status = put_kinds(screen, &view->info);
	return status ? status : put_threads(screen, &view->info, view->all);
}
