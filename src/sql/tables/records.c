/* records.c - the tables of each format's exact records, and of findings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text/fields.h"
#include "sql/tables/tables.h"

#include <string.h>

/* ---- Records. ---- */

struct record_row {
	uint64_t offset, size;
	const char *kind;
	struct sql_text fields;
};

enum { FIELDS = 3 };

#define AT(member) offsetof(struct record_row, member)
static const struct sql_column columns[] = {
    {"id", "INTEGER", SQL_RECORD, AT(offset), SQL_PLAIN, "its byte offset: the id of what other tables make of it"},
    {"size", "INTEGER", SQL_UNSIGNED, AT(size), SQL_PLAIN, "how many bytes it has"},
    {"kind", "TEXT", SQL_WORD, AT(kind), SQL_PLAIN, "what it is, as info and dump call it"},
    [FIELDS] = {"fields", "TEXT", SQL_TEXT, AT(fields), SQL_IS_COSTLY,
                "its fields as a JSON object, as in dump --json"},
    {"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"},
};
#undef AT

static bool put_fields(struct sql_cursor *cursor, const struct tw_record *record, struct record_row *row)
{
	size_t place = cursor->made.text.length;
	struct tw_json json = {.out = sql_write(cursor, &cursor->made.text)};
	if (!json.out)
		return false;
	tw_json_object(&json, NULL);
	for (size_t i = 0; i < record->field_count; i++)
		tw_put_field_json(&json, &record->fields[i]);
	tw_json_object_end(&json);
	tw_output_flush(json.out);
	row->fields = sql_text_from(cursor, place);
	return !json.out->error;
}

static int pull_record(struct sql_cursor *cursor)
{
	struct tw_record record;
	int got = sql_scan_record(&cursor->scan, &record);
	struct record_row *row = got > 0 ? sql_add_row(cursor) : NULL;
	if (got <= 0)
		return got;
	if (!row)
		return sql_no_memory(cursor);
	*row = (struct record_row){.offset = record.offset, .size = record.size, .kind = record.kind};
	return !sql_uses(cursor, FIELDS) || put_fields(cursor, &record, row) ? 1 : sql_no_memory(cursor);
}

const struct sql_table sql_table_fdr_record = {
    .name = "fdr_record",
    .summary = "the records of XRay logs, in the order of the file",
    SQL_COLUMNS(columns),
    .row_size = sizeof(struct record_row),
    .format = "xray",
    .pull = pull_record,
};

const struct sql_table sql_table_fxt_record = {
    .name = "fxt_record",
    .summary = "the records of FXT archives, in the order of the file",
    SQL_COLUMNS(columns),
    .row_size = sizeof(struct record_row),
    .format = "fxt",
    .pull = pull_record,
};

const struct sql_table sql_table_tracelog_record = {
    .name = "tracelog_record",
    .summary = "the records of TraceLog logs, in the order of the file",
    SQL_COLUMNS(columns),
    .row_size = sizeof(struct record_row),
    .format = "tracelog",
    .pull = pull_record,
};

/* ---- Findings. ---- */

struct finding_row {
	uint64_t record, at, line, column;
	const char *severity, *rule;
	struct sql_text text;
};

#define AT(member) offsetof(struct finding_row, member)
static const struct sql_column finding_columns[] = {
    {"severity", "TEXT", SQL_WORD, AT(severity), SQL_PLAIN, "'error', 'warning' or 'note'"},
    {"rule", "TEXT", SQL_WORD, AT(rule), SQL_PLAIN, "the rule that is broken"},
    {"record", "INTEGER", SQL_UNSIGNED, AT(record), SQL_PLAIN, "the byte offset of the record"},
    {"at", "INTEGER", SQL_UNSIGNED, AT(at), SQL_PLAIN, "the offset of the guilty byte"},
    {"line", "INTEGER", SQL_UNSIGNED, AT(line), SQL_PLAIN, "of text formats: the line; otherwise 0"},
    {"column", "INTEGER", SQL_UNSIGNED, AT(column), SQL_PLAIN,
     "of text formats: which byte of the line it is, from 1; otherwise 0"},
    {"text", "TEXT", SQL_TEXT, AT(text), SQL_PLAIN, "what was expected, and what is there"},
    {"file", "TEXT", SQL_FILE, 0, SQL_PLAIN, "the file that it is of"},
};
#undef AT

struct findings {
	bool failed; /* there was no memory for one */
};

static void add_finding(void *context, const struct tw_finding *finding)
{
	struct sql_cursor *cursor = context;
	struct findings *findings = cursor->state;
	struct finding_row *row = sql_add_row(cursor);
	if (!row) {
		findings->failed = true;
		return;
	}
	*row = (struct finding_row){
	    .record = finding->record,
	    .at = finding->at,
	    .line = finding->line,
	    .column = finding->column,
	    .severity = tw_severity_name(finding->severity),
	    .rule = finding->rule,
	};
	findings->failed |= !sql_keep_text(cursor, finding->text, strlen(finding->text), &row->text);
}

static int pull_findings(struct sql_cursor *cursor)
{
	struct findings *findings = cursor->state;
	int got = sql_scan_batch(&cursor->scan);
	return findings->failed ? sql_no_memory(cursor) : got;
}

const struct sql_table sql_table_finding = {
    .name = "finding",
    .summary = "every rule of the formats that the files break, as check tells it",
    SQL_COLUMNS(finding_columns),
    .row_size = sizeof(struct finding_row),
    .checking = TW_CHECK_ALL,
    .state_size = sizeof(struct findings),
    .pull = pull_findings,
    .on_finding = add_finding,
};
