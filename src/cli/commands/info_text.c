/* info_text.c - what is in a trace, for people. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/info.h"

#include "base/text/digits.h"
#include "cli/output/fields.h"
#include "cli/output/show.h"
#include "cli/output/table.h"

#include <ctype.h>
#include <string.h>

enum { THREADS_SHOWN = 20, KEY_COLUMN = 20 };

static bool ends_with(const char *name, const char *ending)
{
	size_t length = strlen(name), tail = strlen(ending);
	return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/* The length of a field's name as it is shown: without "_ns", because the value is shown with its unit. */
static size_t title_length(const char *name)
{
	return strlen(name) - (ends_with(name, "_ns") ? strlen("_ns") : 0);
}

/* Where the values begin: behind ": " after the longest name. */
static size_t value_column(const struct tw_info *info)
{
	size_t column = KEY_COLUMN;
	for (size_t i = 0; i < info->field_count; i++)
		if (title_length(info->fields[i].name) + 2 > column)
			column = title_length(info->fields[i].name) + 2;
	return column;
}

/* The lines of a name and a value. */
struct key_lines {
	struct tw_output *out;
	size_t values; /* the column that they begin in */
	bool markdown; /* they are a list */
};

/* "lost_bytes" as "lost bytes:", filled up to the values' column. */
static void put_key(const struct key_lines *head, const char *key)
{
	size_t length = title_length(key);
	tw_put_text(head->out, head->markdown ? "- " : "");
	for (size_t i = 0; i < length; i++)
		tw_put_char(head->out, (char)(key[i] == '_' ? ' ' : key[i]));
	tw_put_char(head->out, ':');
	for (size_t column = head->markdown ? head->values - 1 : length + 1; column < head->values; column++)
		tw_put_char(head->out, ' ');
}

static void put_line(const struct key_lines *head, const char *key, struct tw_shown value)
{
	put_key(head, key);
	tw_put_text(head->out, value.text);
	tw_put_char(head->out, '\n');
}

static void put_size(const struct key_lines *head, uint64_t bytes)
{
	tw_put_text(head->out, tw_show_size(bytes).text);
	if (bytes >= 1024)
		tw_putf(head->out, " (%s bytes)", tw_show_count(bytes).text);
}

/* A field's name tells its unit: buffer_size is in bytes, cycle_frequency in Hz. */
static void put_value(const struct key_lines *head, const struct tw_field *field)
{
	if (field->type == TW_FIELD_UINT && ends_with(field->name, "_size"))
		put_size(head, field->value.u);
	else if (field->type == TW_FIELD_NS)
		tw_put_text(head->out, tw_show_duration(field->value.u).text);
	else if (field->type == TW_FIELD_UINT)
		tw_putf(head->out, "%s%s", tw_show_count(field->value.u).text,
		        ends_with(field->name, "_frequency") ? " Hz" : "");
	else
		tw_put_field_text(head->out, field);
	tw_put_char(head->out, '\n');
}

/* Some versions are dates: 0x20180424. */
static void put_version(const struct key_lines *head, unsigned version)
{
	enum { DATES = 0x19700101 };
	tw_putf(head->out, version >= DATES ? ", version 0x%08x" : ", version %u", version);
}

static void put_damage(const struct key_lines *head, const struct tw_info *info, const struct tw_reader *reader)
{
	uint64_t errors = tw_reader_findings(reader, TW_ERROR);
	put_key(head, "damage");
	if (errors == 0 && info->lost_bytes == 0)
		tw_put_text(head->out, "none\n");
	else
		tw_putf(head->out, "%s, %s lost\n", tw_show_plural(errors, "error").text,
		        tw_show_plural(info->lost_bytes, "byte").text);
}

/* A time of the trace, or how many instructions there were until then. */
static struct tw_shown show_time(const struct tw_info_view *view, uint64_t time)
{
	return tw_reader_clock(view->reader)->instructions ? tw_show_count(time) : tw_show_duration(time);
}

static void put_part(const struct key_lines *head, const struct tw_info_view *view)
{
	const struct tw_info_part *part = view->part;
	put_key(head, "part");
	tw_putf(head->out, "from %s to %s\n", show_time(view, part->start_ns).text, show_time(view, part->end_ns).text);
	put_line(head, "functions", tw_show_count(part->functions));
}

static void put_head(struct tw_screen *screen, const struct tw_info_view *view)
{
	const struct tw_info *info = &view->info;
	const struct key_lines all = {&screen->out, value_column(info), screen->markdown}, *head = &all;
	put_key(head, "file");
	tw_put_safe(head->out, view->path, strlen(view->path));
	tw_put_char(head->out, '\n');
	put_key(head, "format");
	tw_put_text(head->out, info->format);
	if (info->version)
		put_version(head, info->version);
	tw_put_char(head->out, '\n');
	put_key(head, "size");
	put_size(head, info->bytes);
	tw_put_char(head->out, '\n');
	put_line(head, "span",
	         tw_reader_clock(view->reader)->instructions ? tw_show_plural(info->span_ns, "instruction")
	                                                     : tw_show_duration(info->span_ns));
	if (view->part)
		put_part(head, view);
	put_line(head, "records", tw_show_count(info->records));
	if (info->events != UINT64_MAX)
		put_line(head, "events", tw_show_count(info->events));
	put_line(head, "processes", tw_show_count(info->processes));
	put_line(head, "threads", tw_show_count(info->thread_count));
	for (size_t i = 0; i < info->field_count; i++) {
		put_key(head, info->fields[i].name);
		put_value(head, &info->fields[i]);
	}
	put_damage(head, info, view->reader);
}

static int put_kinds(struct tw_screen *screen, const struct tw_info *info)
{
	static const struct tw_table_column columns[] = {{"RECORDS", true}, {"KIND", false}};
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

/* How many of so many are listed. */
static size_t shown_of(size_t count, bool all)
{
	return all || count <= THREADS_SHOWN ? count : THREADS_SHOWN;
}

static void put_more(struct tw_screen *screen, size_t more)
{
	if (more)
		tw_putf(&screen->out, "... and %s more; --all shows them\n", tw_show_count(more).text);
}

/* What a thread or its process is called, with nothing where that is not known. */
struct thread_names {
	const struct tw_name *thread, *process;
};

static struct thread_names names_of(const struct tw_info_view *view, const struct tw_thread_info *thread)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(view->reader);
	return (struct thread_names){
	    .thread = tw_dictionary_thread_name(dictionary, thread->process, thread->thread),
	    .process = tw_dictionary_process_name(dictionary, thread->process),
	};
}

/* The threads of a part have events, and no size. */
static void add_thread(struct tw_table *table, const struct tw_info_view *view, const struct tw_thread_info *thread)
{
	tw_table_add(table, tw_show_task(thread->thread).text);
	tw_table_add(table, tw_show_task(thread->process).text);
	tw_table_add(table, tw_show_count(thread->records).text);
	if (!view->part)
		tw_table_add(table, tw_show_size(thread->bytes).text);
	tw_table_add(table, show_time(view, thread->start_ns).text);
	tw_table_add(table, show_time(view, thread->end_ns).text);
}

static size_t thread_columns(struct tw_table_column *columns, bool part, bool thread_named, bool process_named)
{
	size_t count = 0;
	columns[count++] = (struct tw_table_column){"THREAD", true};
	columns[count++] = (struct tw_table_column){"PROCESS", true};
	columns[count++] = (struct tw_table_column){part ? "EVENTS" : "RECORDS", true};
	if (!part)
		columns[count++] = (struct tw_table_column){"SIZE", true};
	columns[count++] = (struct tw_table_column){"FROM", true};
	columns[count++] = (struct tw_table_column){"TO", true};
	if (thread_named)
		columns[count++] = (struct tw_table_column){"NAME", false};
	if (process_named)
		columns[count++] = (struct tw_table_column){"PROCESS NAME", false};
	return count;
}

static int put_threads(struct tw_screen *screen, const struct tw_info_view *view)
{
	const struct tw_info_part *part = view->part;
	const struct tw_thread_info *threads = part ? part->threads : view->info.threads;
	size_t all = part ? part->thread_count : view->info.thread_count, shown = shown_of(all, view->all);
	struct tw_table_column columns[TW_TABLE_COLUMNS];
	struct tw_table table = {.columns = columns};
	bool thread_named = false, process_named = false;
	if (shown == 0)
		return 0;
	for (size_t i = 0; i < shown; i++) {
		const struct thread_names names = names_of(view, &threads[i]);
		thread_named |= names.thread->length;
		process_named |= names.process->length;
	}
	table.column_count = thread_columns(columns, part, thread_named, process_named);
	for (size_t i = 0; i < shown; i++) {
		const struct thread_names names = names_of(view, &threads[i]);
		add_thread(&table, view, &threads[i]);
		if (thread_named)
			tw_table_add(&table, names.thread->text);
		if (process_named)
			tw_table_add(&table, names.process->text);
	}
	tw_put_char(&screen->out, '\n');
	int status = tw_table_put(&table, screen);
	put_more(screen, all - shown);
	return status;
}

/* ---- Lists that only some formats have. ---- */

/* Writes "ticks_per_second" as "TICKS PER SECOND"; without a unit at the end. */
static void title_of(const char *name, char *title, size_t room)
{
	size_t length = title_length(name), i = 0;
	for (; i < length && i + 1 < room; i++)
		title[i] = (char)(name[i] == '_' ? ' ' : toupper((unsigned char)name[i]));
	title[i] = '\0';
}

static void add_cell(struct tw_table *table, const struct tw_field *field)
{
	if (field->type == TW_FIELD_NULL)
		tw_table_add(table, field->value.u == TW_UNKNOWN_TASK ? "?" : "-");
	else if (field->type == TW_FIELD_TEXT && field->size)
		tw_table_add_bytes(table, field->value.bytes, field->size);
	else if (field->type == TW_FIELD_TEXT)
		tw_table_add(table, tw_show_name(""));
	else if (field->type == TW_FIELD_NS)
		tw_table_add(table, tw_show_duration(field->value.u).text);
	else if (ends_with(field->name, "_id"))
		tw_table_add(table, tw_show_id(field->value.u).text);
	else if (strcmp(field->name, "bytes") == 0)
		tw_table_add(table, tw_show_size(field->value.u).text);
	else
		tw_table_add(table, tw_show_count(field->value.u).text);
}

static int put_list(struct tw_screen *screen, const struct tw_info_list *list, bool all)
{
	enum { TITLE = 32 };
	char titles[TW_TABLE_COLUMNS][TITLE];
	struct tw_table_column columns[TW_TABLE_COLUMNS];
	struct tw_table table = {.columns = columns, .column_count = list->columns};
	size_t rows = shown_of(list->rows, all);
	if (rows == 0)
		return 0;
	for (size_t i = 0; i < list->columns; i++) {
		title_of(list->fields[i].name, titles[i], TITLE);
		columns[i] = (struct tw_table_column){titles[i], list->fields[i].type != TW_FIELD_TEXT};
	}
	for (size_t i = 0; i < rows * list->columns; i++)
		add_cell(&table, &list->fields[i]);
	tw_putf(&screen->out, "\n%s:\n", list->name);
	int status = tw_table_put(&table, screen);
	put_more(screen, list->rows - rows);
	return status;
}

int tw_info_put_text(struct tw_screen *screen, const struct tw_info_view *view)
{
	put_head(screen, view);
	int status = put_kinds(screen, &view->info);
	for (size_t i = 0; i < view->info.list_count && status == 0; i++)
		status = put_list(screen, &view->info.lists[i], view->all);
	if (status)
		return status;
	return put_threads(screen, view);
}
