/* ctf.c - events to a Common Trace Format directory, version 1.8, which babeltrace2 and Trace Compass read.
 *
 * Source: the "Common Trace Format" document of version 1.8. What is ours to decide:
 * - One stream of packets, all integers little endian and at byte boundaries. A packet is closed when it is large
 *   enough.
 * - An event has the fields in which there is something to say, and numbers of 32 bits where that is enough: an event
 *   class is a kind with these fields, and its number says which. The description has the classes that there are.
 *   (babeltrace2 2.0.4 shows an empty text as the one that stood there before.) Texts end with a zero byte, so that
 *   one inside is U+FFFD, as what is not UTF-8 is.
 * - The clock is the trace's own, in nanoseconds; events have 32 bits of it, so that a packet is also closed where
 *   nothing happens for longer. Times of a stream may not go back: one before the last is told as that one, and
 *   counted.
 * - The directory is made, or is an older one of ours; the two files appear when both are complete, the description
 *   last. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/begun.h"
#include "base/bytes/behind.h"
#include "base/bytes/bytes.h"
#include "base/bytes/outdir.h"
#include "base/threads/parallel.h"
#include "export/events/cells.h"
#include "export/targets.h"
#include "export/text/clean.h"
#include "export/text/labels.h"

#include <trackway/version.h>

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 << 10, PIECES = 8 };
static const uint32_t MAGIC = 0xc1fc1fc1;

enum { HEADER_BYTES = 4 + 4 + 8 + 8 + 8 + 8, BITS = 8 };

/* The fields of an event, in the order in which the description has them, behind the class and the time. Those up to
 * the CPU are the context. */
static const enum tw_column_id fields[] = {TW_COLUMN_PROCESS, TW_COLUMN_THREAD, TW_COLUMN_CPU,   TW_COLUMN_VALUE,
                                           TW_COLUMN_ID,      TW_COLUMN_TRACK,  TW_COLUMN_NAME,  TW_COLUMN_CATEGORY,
                                           TW_COLUMN_OTHER,   TW_COLUMN_STACK,  TW_COLUMN_FLAGS, TW_COLUMN_ARGS,
                                           TW_COLUMN_FILE,    TW_COLUMN_LINE};
enum { CONTEXT = 3, NUMBERS = 5, NAMES = 3, FIELDS = sizeof fields / sizeof *fields, LINE = FIELDS - 1 };

/* The numbers are put as words, whose ends the next ones overwrite. */
enum { WORD = sizeof(uint64_t), CLASS_BYTES = 2, TIME_BYTES = 4, CPU_BYTES = 2, LINE_BYTES = 4 };
enum { FRONT_MAX = CLASS_BYTES + TIME_BYTES + CPU_BYTES + (NUMBERS - 1) * WORD + WORD };

/* An event class: from bit 0 the kind, from bit 5 the columns TRACK to CATEGORY, from bit 8 OTHER to LINE, and in bit
 * 15 whether numbers have 64 bits; whether there are a value and an id is the kind's. */
enum { CLASS_NAMES = 5, CLASS_OTHERS = 8, CLASS_WIDE = 15, CLASSES = 1 << 16 };
static_assert((int)TW_EVENT_KINDS <= 1 << CLASS_NAMES, "a kind has five bits");
static_assert(TW_COLUMN_CATEGORY - TW_COLUMN_TRACK == CLASS_OTHERS - CLASS_NAMES - 1, "three names have three bits");
static_assert(TW_COLUMN_LINE - TW_COLUMN_OTHER == CLASS_WIDE - CLASS_OTHERS - 1, "and the others seven");

static const char *const files[] = {"stream", "metadata"};
enum { STREAM, METADATA, FILES };

struct ctf {
	struct tw_writer *writer;
	char *paths[FILES]; /* until they are complete */
	struct tw_outdir directory;
	struct tw_output out;
	bool is_open;
	struct tw_cells cells;
	struct tw_line pieces[PIECES]; /* packets: head and events */
	struct tw_line *piece;         /* that is being filled */
	struct tw_behind *behind;      /* writes them, as long as `is_open` is of the stream; NULL: nobody else does */
	bool in_packet;
	size_t head;          /* of the packet: where it is in the piece */
	uint64_t first, last; /* times of its events */
	bool used[CLASSES];
	uint64_t day;       /* of time 0: ns since 1970; 0: not known */
	bool begun, failed; /* failed: no memory for a packet */
};

/* ---- Event classes. ---- */

static inline unsigned class_of(unsigned kind, uint32_t filled, bool wide)
{
	uint64_t names = tw_bits(filled, TW_COLUMN_TRACK, TW_COLUMN_CATEGORY);
	uint64_t others = tw_bits(filled, TW_COLUMN_OTHER, TW_COLUMN_LINE);
	return kind | (unsigned)(names << CLASS_NAMES | others << CLASS_OTHERS) | (unsigned)wide << CLASS_WIDE;
}

static inline unsigned kind_of(unsigned class)
{
	return class % (1 << CLASS_NAMES);
}

static inline bool has(unsigned class, enum tw_column_id column)
{
	if (column >= TW_COLUMN_OTHER)
		return class >> CLASS_OTHERS >> (column - TW_COLUMN_OTHER) & 1;
	if (column >= TW_COLUMN_TRACK && column <= TW_COLUMN_CATEGORY)
		return class >> CLASS_NAMES >> (column - TW_COLUMN_TRACK) & 1;
	return tw_cells_of_kind[kind_of(class)] >> column & 1;
}

/* Of a column that is a number, 0 where there is none. */
static inline unsigned bytes_of(unsigned class, enum tw_column_id column)
{
	unsigned bytes = column == TW_COLUMN_CPU    ? CPU_BYTES
	                 : column == TW_COLUMN_LINE ? LINE_BYTES
	                                            : (unsigned)sizeof(uint32_t) << (class >> CLASS_WIDE);
	return has(class, column) ? bytes : 0;
}

static inline bool is_wide(const struct tw_event *event, const struct tw_track *track)
{
	return (track->process | track->thread | event->value | event->id) > UINT32_MAX;
}

/* ---- The stream. ---- */

static void put_piece(void *context, void *piece)
{
	struct ctf *ctf = context;
	struct tw_line *packets = piece;
	tw_put(&ctf->out, packets->text.bytes, packets->text.length);
	tw_line_clear(packets);
}

static void begin_packet(struct ctf *ctf, uint64_t time)
{
	static const char head[HEADER_BYTES];
	ctf->head = ctf->piece->text.length;
	tw_line_add(ctf->piece, head, sizeof head);
	ctf->first = ctf->last = time;
	ctf->in_packet = true;
}

static void end_packet(struct ctf *ctf)
{
	uint64_t bits = (uint64_t)(ctf->piece->text.length - ctf->head) * BITS;
	ctf->in_packet = false;
	if (ctf->piece->failed)
		return;
	uint8_t *head = (uint8_t *)ctf->piece->text.bytes + ctf->head;
	tw_store32(head, MAGIC, false);
	tw_store32(head + 4, 0, false); /* the number of the stream */
	tw_store64(head + 8, ctf->first, false);
	tw_store64(head + 16, ctf->last, false);
	tw_store64(head + 24, bits, false); /* of the content */
	tw_store64(head + 32, bits, false); /* of the packet: there is no padding */
}

/* Ends the packet, and hands all of them over. */
static void flush(struct ctf *ctf)
{
	if (ctf->in_packet)
		end_packet(ctf);
	ctf->failed |= ctf->piece->failed;
	if (ctf->failed)
		return;
	if (!ctf->behind) {
		put_piece(ctf, ctf->piece);
		return;
	}
	tw_behind_put(ctf->behind);
	ctf->piece = tw_behind_piece(ctf->behind);
}

static uint64_t advance(struct ctf *ctf, uint64_t time)
{
	if (time < ctf->last) {
		tw_count_loss(ctf->writer, "time", true);
		time = ctf->last;
	}
	if (ctf->in_packet && time - ctf->last > UINT32_MAX)
		end_packet(ctf);
	if (!ctf->in_packet)
		begin_packet(ctf, time);
	return ctf->last = time;
}

static void render_name(struct tw_line *line, const struct tw_name *name, struct tw_rendered *piece)
{
	tw_line_clean(line, name->text, tw_name_cut(name->length, piece));
	tw_label_number(line, name);
}

static void add_text(struct ctf *ctf, const struct tw_event *event, enum tw_column_id column)
{
	struct tw_cell cell = tw_columns[column].cell(&ctf->cells, event);
	if (cell.form == TW_CELL_NAME)
		tw_cells_add_name(&ctf->cells, ctf->piece, &cell);
	else if (cell.form == TW_CELL_TEXT)
		tw_line_clean(ctf->piece, cell.bytes, cell.size);
	else
		tw_line_add(ctf->piece, cell.bytes, cell.size);
}

static void add_line(struct ctf *ctf, const struct tw_event *event)
{
	uint8_t bytes[LINE_BYTES];
	tw_store32(bytes, (uint32_t)tw_columns[TW_COLUMN_LINE].cell(&ctf->cells, event).number, false);
	tw_line_add(ctf->piece, (const char *)bytes, sizeof bytes);
}

/* The fields from one on: texts, and the line. */
static void add_fields(struct ctf *ctf, const struct tw_event *event, unsigned class, unsigned from)
{
	for (unsigned i = from; i < LINE; i++)
		if (has(class, fields[i])) {
			add_text(ctf, event, fields[i]);
			tw_line_add(ctf->piece, "", 1);
		}
	if (has(class, TW_COLUMN_LINE))
		add_line(ctf, event);
}

static inline char *put_number(char *p, uint64_t value, unsigned bytes)
{
	tw_store64((uint8_t *)p, value, false);
	return p + bytes;
}

static inline char *put_front(char *p, const struct tw_event *event, const struct tw_track *track, unsigned class,
                              uint64_t time)
{
	p = put_number(p, class, CLASS_BYTES);
	p = put_number(p, time, TIME_BYTES);
	p = put_number(p, track->process, bytes_of(class, TW_COLUMN_PROCESS));
	p = put_number(p, track->thread, bytes_of(class, TW_COLUMN_THREAD));
	p = put_number(p, event->cpu, bytes_of(class, TW_COLUMN_CPU));
	p = put_number(p, event->value, bytes_of(class, TW_COLUMN_VALUE));
	return put_number(p, event->id, bytes_of(class, TW_COLUMN_ID));
}

/* The names of an event as they are written; NULL: it has none. */
struct event_names {
	const struct tw_rendered *track, *name, *category;
};

/* Finds one, and adds to *size how many bytes it takes. False where it is not kept or was cut. */
static inline bool find_name(const struct ctf *ctf, uint32_t number, const struct tw_rendered **found, size_t *size)
{
	if (number == 0)
		return true;
	*found = tw_names_kept(&ctf->cells.names, ctf->cells.dictionary, number);
	if (!*found || (*found)->cut)
		return false;
	*size += (*found)->size;
	return true;
}

/* Returns how many bytes they take, or SIZE_MAX where there is one that is not kept or was cut. */
static inline size_t find_names(const struct ctf *ctf, const struct tw_event *event, const struct tw_track *track,
                                struct event_names *found)
{
	size_t size = 0;
	*found = (struct event_names){0};
	bool kept = find_name(ctf, track->name, &found->track, &size) &&
	            find_name(ctf, event->name, &found->name, &size) &&
	            find_name(ctf, event->category, &found->category, &size);
	return kept ? size : SIZE_MAX;
}

static inline char *put_name(char *p, const struct ctf *ctf, const struct tw_rendered *name)
{
	if (!name)
		return p;
	p = tw_names_copy(p, &ctf->cells.names, name);
	*p = '\0';
	return p + 1;
}

static inline char *put_names(char *p, const struct ctf *ctf, const struct event_names *found)
{
	return put_name(put_name(put_name(p, ctf, found->track), ctf, found->name), ctf, found->category);
}

/* One whose names are all kept, as most are, is put in one go: part by part it takes twice the time (`make bench`). */
static void add_event(struct ctf *ctf, const struct tw_event *event)
{
	enum { OTHERS = (1 << TW_COLUMNS) - (1 << TW_COLUMN_OTHER) - (1 << TW_COLUMN_CPU) };
	const struct tw_track *track = tw_dictionary_track(ctf->cells.dictionary, event->track);
	struct event_names found;
	uint64_t time = advance(ctf, event->time);
	uint32_t filled = tw_cells_filled(&ctf->cells, event);
	unsigned class = class_of(event->kind, filled, is_wide(event, track));
	size_t size = find_names(ctf, event, track, &found);
	bool kept = size != SIZE_MAX;
	char *p = tw_line_room(ctf->piece, FRONT_MAX + (kept ? size : 0) + NAMES + TW_NAMES_BEHIND);
	if (!p)
		return;
	p = put_front(p, event, track, class, time);
	tw_line_end(ctf->piece, kept ? put_names(p, ctf, &found) : p);
	if (!kept || filled & OTHERS)
		add_fields(ctf, event, class, kept ? NUMBERS + NAMES : NUMBERS);
	ctf->used[class] = true;
}

/* ---- The description. ---- */

static bool is_number(enum tw_column_id column)
{
	return column <= TW_COLUMN_THREAD || column == TW_COLUMN_CPU || column == TW_COLUMN_VALUE ||
	       column == TW_COLUMN_ID || column == TW_COLUMN_LINE;
}

static void put_fields(struct tw_output *out, unsigned class, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		if (is_number(fields[i]) && has(class, fields[i]))
			tw_putf(out, " uint%u_t _%s;", bytes_of(class, fields[i]) * BITS, tw_columns[fields[i]].name);
		else if (has(class, fields[i]))
			tw_putf(out, " string _%s;", tw_columns[fields[i]].name);
}

static void put_event_class(struct tw_output *out, unsigned class)
{
	tw_putf(out, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tcontext := struct {",
	        tw_event_kind_name(kind_of(class)), class);
	put_fields(out, class, 0, CONTEXT);
	tw_put_text(out, " };\n\tfields := struct {");
	put_fields(out, class, CONTEXT, FIELDS);
	tw_put_text(out, " };\n};\n");
}

static void put_integers(struct tw_output *out)
{
	for (unsigned bits = 8; bits <= 64; bits *= 2)
		tw_putf(out, "typealias integer { size = %u; align = 8; signed = false; } := uint%u_t;\n", bits, bits);
}

static void put_times(struct tw_output *out)
{
	static const struct {
		unsigned bits;
		const char *name;
	} times[] = {{64, "time_t"}, {TIME_BYTES * BITS, "event_time_t"}};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		tw_putf(out,
		        "typealias integer { size = %u; align = 8; signed = false; map = clock.trace.value; } := %s;\n",
		        times[i].bits, times[i].name);
}

static void put_description(struct tw_output *out, const struct ctf *ctf)
{
	tw_put_text(out, "/* CTF 1.8 */\n");
	put_integers(out);
	tw_putf(out,
	        "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
	        "\tpacket.header := struct { uint32_t magic; uint32_t stream_id; };\n};\n"
	        "env {\n\ttracer_name = \"trackway\";\n\ttracer_version = \"%s\";\n};\n"
	        "clock {\n\tname = \"trace\";\n\tfreq = 1000000000;\n\toffset = %" PRIu64 ";\n\tabsolute = %s;\n};\n",
	        tw_version(), ctf->day, ctf->day ? "TRUE" : "FALSE");
	put_times(out);
	tw_put_text(out, "stream {\n\tid = 0;\n"
	                 "\tpacket.context := struct {\n\t\ttime_t timestamp_begin;\n\t\ttime_t timestamp_end;\n"
	                 "\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n\t};\n"
	                 "\tevent.header := struct { uint16_t id; event_time_t timestamp; };\n};\n");
	for (unsigned class = 0; class < CLASSES; class ++)
		if (ctf->used[class])
			put_event_class(out, class);
}

/* ---- The directory. ---- */

static int fail(struct ctf *ctf, int error)
{
	return tw_writer_fail_system(ctf->writer, ctf->writer->path, error);
}

/* Whether a file of a directory may be replaced: this format's, or what a killed program had begun of it. */
static bool is_ours(int directory, const char *name)
{
	struct stat what;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || tw_begun_place(name, strlen(name)))
		return true;
	return (strcmp(name, files[STREAM]) == 0 || strcmp(name, files[METADATA]) == 0) &&
	       fstatat(directory, name, &what, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(what.st_mode);
}

/* Whether there is nothing in a directory but what this format has: that is replaced. */
static bool all_ours(DIR *directory)
{
	for (const struct dirent *entry; (entry = readdir(directory));)
		if (!is_ours(dirfd(directory), entry->d_name))
			return false;
	return true;
}

/* Returns 0 or an errno. */
static int make_directory(struct ctf *ctf)
{
	DIR *there = opendir(ctf->writer->path);
	bool others = there && !all_ours(there);
	if (there)
		closedir(there);
	return others ? EEXIST : tw_outdir_open(&ctf->directory, ctf->writer->path);
}

static int open_stream(struct ctf *ctf)
{
	int error = tw_output_open(&ctf->out, ctf->paths[STREAM]);
	ctf->is_open = error == 0;
	return error ? fail(ctf, error) : 0;
}

static bool make_paths(struct ctf *ctf)
{
	for (unsigned i = 0; i < FILES; i++)
		if (asprintf(&ctf->paths[i], "%s/%s", ctf->directory.temporary, files[i]) < 0)
			ctf->paths[i] = NULL;
	return ctf->paths[STREAM] && ctf->paths[METADATA];
}

/* ---- The target. ---- */

/* The first batch: where there is another processor, it writes packets, most of which is the system's time. */
static void begin(struct ctf *ctf, unsigned jobs)
{
	void *list[PIECES];
	for (unsigned i = 0; i < PIECES; i++)
		list[i] = &ctf->pieces[i];
	if ((jobs ? jobs : tw_processors()) > 1)
		ctf->behind = tw_behind_new(put_piece, ctf, list, PIECES);
	ctf->begun = true;
}

static int open_ctf(struct tw_writer *writer)
{
	struct ctf *ctf = calloc(1, sizeof *ctf);
	writer->state = ctf;
	if (!ctf)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	ctf->writer = writer;
	tw_cells_init(&ctf->cells, writer, render_name);
	ctf->out.fd = ctf->directory.lock = -1;
	ctf->piece = &ctf->pieces[0];
	if (strcmp(writer->path, "-") == 0)
		return tw_writer_fail(writer, TW_ERR_VALUE, "ctf is a directory: it does not go to standard output");
	int error = make_directory(ctf);
	if (error)
		return fail(ctf, error);
	return make_paths(ctf) ? open_stream(ctf) : tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
}

static int write_ctf(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct ctf *ctf = writer->state;
	tw_cells_meet(&ctf->cells, reader, batch);
	if (!ctf->begun)
		begin(ctf, reader->options.jobs);
	ctf->day = tw_time_of_day(tw_reader_clock(reader), 0);
	for (size_t i = 0; i < batch->count; i++) {
		add_event(ctf, &batch->events[i]);
		if (ctf->piece->text.length >= PIECE_BYTES)
			flush(ctf);
	}
	if (ctf->failed || ctf->piece->failed || tw_cells_failed(&ctf->cells))
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	return ctf->out.error ? fail(ctf, ctf->out.error) : 0;
}

/* Completes both files; then both get their place: the events mean nothing without their description. */
static int keep_files(struct ctf *ctf)
{
	struct tw_output description;
	ctf->is_open = false;
	int error = tw_output_close(&ctf->out);
	if (error)
		return fail(ctf, error);
	error = tw_output_open(&description, ctf->paths[METADATA]);
	if (error)
		return fail(ctf, error);
	put_description(&description, ctf);
	error = tw_output_close(&description);
	error = error ? error : tw_outdir_keep(&ctf->directory, files[METADATA]);
	return error ? fail(ctf, error) : 0;
}

static int finish_ctf(struct tw_writer *writer)
{
	struct ctf *ctf = writer->state;
	flush(ctf);
	if (ctf->behind)
		tw_behind_end(ctf->behind);
	return keep_files(ctf);
}

static void close_ctf(struct tw_writer *writer)
{
	struct ctf *ctf = writer->state;
	tw_behind_free(ctf->behind);
	if (ctf->is_open)
		tw_output_discard(&ctf->out);
	tw_outdir_drop(&ctf->directory);
	for (unsigned i = 0; i < FILES; i++)
		free(ctf->paths[i]);
	tw_cells_free(&ctf->cells);
	for (unsigned i = 0; i < PIECES; i++)
		tw_text_free(&ctf->pieces[i].text);
	free(ctf);
	writer->state = NULL;
}

static const char *const extensions[] = {".ctf", NULL};

const struct tw_target tw_target_ctf = {
    .name = "ctf",
    .extensions = extensions,
    .order = TW_ORDER_TIME,
    .directory = true,
    .beside = (const char *const[]){"/stream", "/metadata", NULL},
    .open = open_ctf,
    .write = write_ctf,
    .finish = finish_ctf,
    .close = close_ctf,
};
