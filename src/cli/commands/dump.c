/* dump.c - trackway dump: every record of a trace, one a line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/nothing_passed.h"
#include "cli/files/walk.h"
#include "cli/output/fields.h"
#include "cli/output/message.h"
#include "cli/output/table.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KIND_COLUMN = 20 };

/* 0x0000002a: eight digits, or more where they are needed. */
static void put_offset(struct tw_output *out, uint64_t offset)
{
	static const char digits[] = "0123456789abcdef";
	unsigned count = 8;
	while (count < 16 && offset >> (4 * count))
		count++;
	char *p = tw_output_room(out, 18);
	*p++ = '0';
	*p++ = 'x';
	for (unsigned i = count; i-- > 0;)
		*p++ = digits[(offset >> (4 * i)) & 15];
	tw_output_took(out, 2 + count);
}

struct dump {
	struct tw_screen screen;
	struct tw_output line; /* to `text`: lines that are cut */
	struct tw_text text;
};

static void put_record(struct tw_output *out, const struct tw_record *record)
{
	if (record->text) {
		tw_put(out, record->text, record->text_size);
		return;
	}
	put_offset(out, record->offset);
	tw_put(out, "  ", 2);
	tw_put_text(out, record->kind);
	for (size_t i = strlen(record->kind); record->field_count && i < KIND_COLUMN; i++)
		tw_put_char(out, ' ');
	for (size_t i = 0; i < record->field_count; i++) {
		tw_put_char(out, ' ');
		tw_put_text(out, record->fields[i].name);
		tw_put_char(out, '=');
		tw_put_field_text(out, &record->fields[i]);
	}
}

/* A terminal without a pager has room for its width. */
static bool is_cut(const struct tw_screen *screen)
{
	return screen->width && !screen->pager;
}

static void put_text(struct dump *dump, const struct tw_record *record)
{
	struct tw_output *out = &dump->screen.out;
	if (is_cut(&dump->screen)) {
		dump->text.length = 0;
		put_record(&dump->line, record);
		tw_output_flush(&dump->line);
		tw_put_cut(out, dump->text.length ? dump->text.bytes : "", dump->screen.width);
	} else {
		put_record(out, record);
	}
	tw_put_char(out, '\n');
}

static void put_json(struct dump *dump, const struct tw_record *record)
{
	struct tw_json json = {.out = &dump->screen.out};
	tw_json_object(&json, NULL);
	tw_json_u64(&json, "offset", record->offset);
	tw_json_text(&json, "record", record->kind);
	for (size_t i = 0; i < record->field_count; i++)
		tw_put_field_json(&json, &record->fields[i]);
	tw_json_object_line_end(&json);
}

/* Whether the next record may be long in coming: then what there is should be shown. A log may come from a FIFO that a
 * program still writes to. */
static bool may_wait(const char *path)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	return strcmp(path, "-") != 0 || poll(&input, 1, 0) == 0;
}

static bool is_pipe(const char *path)
{
	struct stat status;
	int failed = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(path, &status);
	return failed == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* Whether it is a call of a function that has a number alone. */
static bool has_number_only(const struct tw_record *record)
{
	if (strncmp(record->kind, "function.", 9) != 0)
		return false;
	for (size_t i = 0; i < record->field_count; i++)
		if (strcmp(record->fields[i].name, "function") == 0)
			return false;
	return true;
}

/* Stops at once when the listing can no longer be written, for its reader may be gone. */
static int read_records(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct dump *dump = walk->context;
	struct tw_screen *screen = &dump->screen;
	struct tw_record record;
	int status = tw_screen_open_form(screen, walk->common);
	if (status)
		return status;
	void (*put)(struct dump *, const struct tw_record *) = walk->common->forms.json ? put_json : put_text;
	bool any = false, pipe = is_pipe(path), numbers = false;
	for (; (status = tw_read_record(reader, &record)) > 0 && !screen->out.error; any = true) {
		put(dump, &record);
		numbers = numbers || has_number_only(&record);
		if (pipe && may_wait(path))
			tw_output_flush(&screen->out);
	}
	numbers = numbers && !walk->common->names.binaries.count && !walk->common->forms.json;
	if (numbers)
		tw_output_flush(&screen->out); /* what nobody reads any more needs no names */
	if (numbers && status == 0 && !screen->out.error)
		tw_say_numbers_only();
	if (status == 0 && !any)
		tw_say_nothing(walk->common, false);
	return status > 0 ? 0 : status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct dump dump = {0};
	if (tw_output_text(&dump.line, &dump.text))
		return tw_say_error("out of memory");
	struct tw_walk walk = {
	    .common = common,
	    .options = {.order = TW_ORDER_FILE, .listing = !common->forms.json},
	    .filter_slices = true,
	    .quiet = tw_goes_to_terminal(common->output),
	    .context = &dump,
	    .read = read_records,
	};
	int status = tw_walk(&walk, operands, count);
	tw_output_discard(&dump.line);
	tw_text_free(&dump.text);
	return tw_screen_end(&dump.screen, status);
}

static const struct tw_option own_options[] = {
    {"tokens", 0, TW_OPTION_FLAG, offsetof(struct tw_common, xtrace.tokens),
     .help = "of xtrace: each token with its offset; otherwise each instruction with what it did"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Records", own_options), &tw_filter_options, &tw_input_options, &tw_output_options);

const struct tw_command tw_command_dump = {
    .name = "dump",
    .summary = "every record, one a line, with its byte offset",
    .operands = "FILE",
    .description =
	"Shows the records as the format has them, in the order of the file: byte offset, kind, and the fields by the "
	"names of the specification. Times are the counters of the log, as they stand there.\n\n"
	"With filters only the records are shown that belong to what passes them.\n\n"
	"Of an xtrace a line is an instruction: its number, PC, exception level, opcode and disassembly, then the "
	"tokens behind it: addresses and values of its loads and stores, registers, arguments of system calls. Its "
	"times are numbers of instructions.",
    .examples = "trackway dump app.xray\tAll records.\n"
		"trackway dump --json --thread 4711 app.xray\tThose of a thread, for a script.\n",
    .groups = groups,
    TW_FORMS_OF_LINES,
    .size = sizeof(struct tw_common),
    .least = 1,
    .most = 1,
    .run = run,
};
