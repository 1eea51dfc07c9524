/* ctf.c - events to a Common Trace Format directory, version 1.8, which babeltrace2 and Trace Compass read.
 *
 * Source: the "Common Trace Format" document of version 1.8. What is ours to decide:
 * - One stream of packets, all integers little endian and at byte boundaries. A packet is closed when it is large
 *   enough.
 * - An event class for each kind of event, all with the same fields; texts end with a zero byte, so that one inside is
 *   U+FFFD, as what is not UTF-8 is.
 * - The clock is the trace's own, in nanoseconds. Times of a stream may not go back: one before the last is told as
 *   that one, and counted.
 * - The directory is made, or is an older one of ours; each of the two files appears when it is complete, the
 *   description last. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/behind.h"
#include "base/bytes.h"
#include "base/parallel.h"
#include "base/utf8.h"
#include "export/cells.h"
#include "export/labels.h"
#include "export/targets.h"

#include <trackway/version.h>

enum { PACKET_BYTES = 256 << 10, PACKETS = 8, DIRECTORY_MODE = 0777 };
static const uint32_t MAGIC = 0xc1fc1fc1;

enum { HEADER_BYTES = 4 + 4 + 8 + 8 + 8 + 8, BITS = 8 };

/* The texts of an event, in the order in which the description has them: the names first. */
static const enum tw_column_id texts[] = {TW_COLUMN_TRACK, TW_COLUMN_NAME,  TW_COLUMN_CATEGORY, TW_COLUMN_OTHER,
                                          TW_COLUMN_STACK, TW_COLUMN_FLAGS, TW_COLUMN_ARGS,     TW_COLUMN_FILE};
enum { NAMES = 3, TEXTS = sizeof texts / sizeof *texts };

/* The numbers before them, behind the kind: time, process, thread, CPU, value, id. */
enum { NUMBERS = 6, FRONT_BYTES = 1 + NUMBERS * 8 };

static const char *const files[] = {"stream", "metadata"};
enum { STREAM, METADATA, FILES };

struct ctf {
	struct tw_writer *writer;
	char *paths[FILES];
	char *directory;
	bool made; /* the directory is new */
	struct tw_output out;
	bool is_open;
	struct tw_cells cells;
	struct tw_line packets[PACKETS]; /* head and events */
	struct tw_line *packet;          /* that is being filled */
	struct tw_behind *behind; /* writes them, as long as `is_open` is of the stream; NULL: nobody else does */
	uint64_t first, last;     /* times of the events in the packet */
	uint64_t day;             /* of time 0: ns since 1970; 0: not known */
	bool begun, failed;       /* failed: no memory for a packet */
};

/* ---- The stream. ---- */

/* How many bytes at the front can stand in a text. */
static size_t plain(const char *bytes, size_t size)
{
	size_t good = 0;
	for (size_t step = 1; good < size && step; good += step)
		step = bytes[good] > 0 ? 1 : bytes[good] ? tw_utf8_length(bytes + good, size - good) : 0;
	return good;
}

static void add_clean(struct tw_line *line, const char *bytes, size_t size)
{
	while (size) {
		size_t good = plain(bytes, size);
		tw_line_add(line, bytes, good);
		if (good < size) {
			tw_line_text(line, "\xef\xbf\xbd");
			good++;
		}
		bytes += good;
		size -= good;
	}
}

static void put_packet(void *context, void *piece)
{
	struct ctf *ctf = context;
	struct tw_line *packet = piece;
	tw_put(&ctf->out, packet->text.bytes, packet->text.length);
	tw_line_clear(packet);
}

static void flush_packet(struct ctf *ctf)
{
	struct tw_line *packet = ctf->packet;
	uint64_t bits = (uint64_t)packet->text.length * BITS;
	ctf->failed |= packet->failed;
	if (packet->text.length == 0 || ctf->failed)
		return;
	uint8_t *head = (uint8_t *)packet->text.bytes;
	tw_store32(head, MAGIC, false);
	tw_store32(head + 4, 0, false); /* the number of the stream */
	tw_store64(head + 8, ctf->first, false);
	tw_store64(head + 16, ctf->last, false);
	tw_store64(head + 24, bits, false); /* of the content */
	tw_store64(head + 32, bits, false); /* of the packet: there is no padding */
	if (!ctf->behind) {
		put_packet(ctf, packet);
		return;
	}
	tw_behind_put(ctf->behind);
	ctf->packet = tw_behind_piece(ctf->behind);
}

static void begin_packet(struct ctf *ctf)
{
	static const char head[HEADER_BYTES];
	tw_line_add(ctf->packet, head, sizeof head);
	ctf->first = ctf->last;
}

static uint64_t advance(struct ctf *ctf, uint64_t time)
{
	if (time < ctf->last)
		tw_count_loss(ctf->writer, "time", true);
	else
		ctf->last = time;
	if (ctf->packet->text.length == 0)
		begin_packet(ctf);
	return ctf->last;
}

static void render_name(struct tw_line *line, const struct tw_name *name, struct tw_rendered *piece)
{
	add_clean(line, name->text, tw_name_cut(name->length, piece));
	tw_label_number(line, name);
}

static void add_text(struct ctf *ctf, const struct tw_event *event, enum tw_column_id column)
{
	struct tw_cell cell = tw_columns[column].tell(&ctf->cells, event);
	if (cell.form == TW_CELL_NAME)
		tw_cells_add_name(&ctf->cells, ctf->packet, &cell);
	else if (cell.form == TW_CELL_TEXT)
		add_clean(ctf->packet, cell.bytes, cell.size);
	else
		tw_line_add(ctf->packet, cell.bytes, cell.size);
}

static void add_line(struct ctf *ctf, const struct tw_event *event, bool told)
{
	uint8_t bytes[sizeof(uint64_t)];
	tw_store64(bytes, told ? tw_columns[TW_COLUMN_LINE].tell(&ctf->cells, event).number : 0, false);
	tw_line_add(ctf->packet, (const char *)bytes, sizeof bytes);
}

/* The texts from one on, and the line that belongs to the last of them. */
static void add_texts(struct ctf *ctf, const struct tw_event *event, unsigned from)
{
	uint32_t told = tw_cells_told(&ctf->cells, event);
	for (unsigned i = from; i < TEXTS; i++) {
		if (told >> texts[i] & 1)
			add_text(ctf, event, texts[i]);
		tw_line_add(ctf->packet, "", 1);
	}
	add_line(ctf, event, told >> TW_COLUMN_LINE & 1);
}

static char *put_front(char *p, const struct tw_event *event, const struct tw_track *track, uint64_t time)
{
	const uint64_t numbers[NUMBERS] = {time, track->process, track->thread, event->cpu, event->value, event->id};
	*p++ = (char)event->kind;
	for (size_t i = 0; i < NUMBERS; i++, p += sizeof *numbers)
		tw_store64((uint8_t *)p, numbers[i], false);
	return p;
}

/* Finds the pieces of the names, NULL where there is none; how many bytes they take, or SIZE_MAX where one is not kept,
 * or was cut. */
static size_t find_names(const struct ctf *ctf, const struct tw_event *event, const struct tw_track *track,
                         const struct tw_rendered *found[NAMES])
{
	const uint32_t numbers[NAMES] = {track->name, event->name, event->category};
	const struct tw_names *names = &ctf->cells.names;
	size_t size = 0;
	for (size_t i = 0; i < NAMES; i++) {
		const struct tw_name *name = tw_dictionary_name(ctf->cells.dictionary, numbers[i]);
		found[i] = NULL;
		if (numbers[i] == 0)
			continue;
		if (!tw_names_has(names, name, numbers[i]) || names->pieces[numbers[i]].cut)
			return SIZE_MAX;
		found[i] = &names->pieces[numbers[i]];
		size += found[i]->size;
	}
	return size;
}

static char *put_names(char *p, const struct ctf *ctf, const struct tw_rendered *const found[NAMES])
{
	for (size_t i = 0; i < NAMES; i++) {
		if (found[i])
			p = tw_names_copy(p, &ctf->cells.names, found[i]);
		*p++ = '\0';
	}
	return p;
}

/* An event whose names are kept, as most are: told one by one, its parts take twice the time (`make bench`). */
static void add_known(struct ctf *ctf, const struct tw_event *event, const struct tw_track *track, uint64_t time,
                      const struct tw_rendered *const found[NAMES], size_t size)
{
	static const char none[TEXTS - NAMES + sizeof(uint64_t)];
	char *p = tw_line_room(ctf->packet, FRONT_BYTES + size + NAMES + sizeof none + TW_NAMES_BEHIND);
	if (!p)
		return;
	p = put_names(put_front(p, event, track, time), ctf, found);
	bool more = event->kind > TW_SLICE_COMPLETE || event->argument_count || event->flags;
	if (!more)
		p = (char *)memcpy(p, none, sizeof none) + sizeof none;
	tw_line_end(ctf->packet, p);
	if (more)
		add_texts(ctf, event, NAMES);
}

static void add_event(struct ctf *ctf, const struct tw_event *event)
{
	const struct tw_track *track = tw_dictionary_track(ctf->cells.dictionary, event->track);
	const struct tw_rendered *found[NAMES];
	uint64_t time = advance(ctf, event->time);
	size_t size = find_names(ctf, event, track, found);
	char front[FRONT_BYTES];
	if (size != SIZE_MAX) {
		add_known(ctf, event, track, time, found, size);
	} else {
		tw_line_add(ctf->packet, front, (size_t)(put_front(front, event, track, time) - front));
		add_texts(ctf, event, 0);
	}
	if (ctf->packet->text.length >= PACKET_BYTES + HEADER_BYTES)
		flush_packet(ctf);
}

/* ---- The description. ---- */

static void put_event_class(struct tw_output *out, unsigned kind)
{
	tw_putf(out,
	        "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n\t\tuint64_t _value;\n"
	        "\t\tuint64_t _id;\n",
	        tw_event_kind_name(kind), kind);
	for (size_t i = 0; i < TEXTS; i++)
		tw_putf(out, "\t\tstring _%s;\n", tw_columns[texts[i]].name);
	tw_put_text(out, "\t\tuint64_t _line;\n\t};\n};\n");
}

/* day: of time 0. */
static void put_description(struct tw_output *out, uint64_t day)
{
	tw_putf(out,
	        "/* CTF 1.8 */\n"
	        "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	        "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	        "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	        "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
	        "\tpacket.header := struct { uint32_t magic; uint32_t stream_id; };\n};\n"
	        "env {\n\ttracer_name = \"trackway\";\n\ttracer_version = \"%s\";\n};\n"
	        "clock {\n\tname = \"trace\";\n\tfreq = 1000000000;\n\toffset = %" PRIu64 ";\n\tabsolute = %s;\n};\n"
	        "typealias integer { size = 64; align = 8; signed = false; map = clock.trace.value; } := time_t;\n"
	        "stream {\n\tid = 0;\n"
	        "\tpacket.context := struct {\n\t\ttime_t timestamp_begin;\n\t\ttime_t timestamp_end;\n"
	        "\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n\t};\n"
	        "\tevent.header := struct { uint8_t id; time_t timestamp; };\n"
	        "\tevent.context := struct { uint64_t _process; uint64_t _thread; uint64_t _cpu; };\n};\n",
	        tw_version(), day, day ? "TRUE" : "FALSE");
	for (unsigned kind = 0; kind < TW_EVENT_KINDS; kind++)
		put_event_class(out, kind);
}

/* ---- The directory. ---- */

static int fail(struct ctf *ctf, int error)
{
	return tw_writer_fail(ctf->writer, TW_ERR_SYSTEM, "%s: %s", ctf->directory, strerror(error));
}

/* Whether there is nothing in a directory but what this format has: that is replaced. */
static bool is_ours(const char *path)
{
	DIR *directory = opendir(path);
	bool ours = directory != NULL;
	for (struct dirent *entry; ours && (entry = readdir(directory));) {
		const char *name = entry->d_name;
		ours = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, files[STREAM]) == 0 ||
		       strcmp(name, files[METADATA]) == 0;
	}
	if (directory)
		closedir(directory);
	return ours;
}

/* Returns 0 or an errno. */
static int make_directory(struct ctf *ctf)
{
	ctf->made = mkdir(ctf->directory, DIRECTORY_MODE) == 0;
	if (ctf->made)
		return 0;
	int error = errno;
	return error == EEXIST && is_ours(ctf->directory) ? 0 : error;
}

static int open_file(struct ctf *ctf, unsigned file)
{
	int error = tw_output_open(&ctf->out, ctf->paths[file]);
	ctf->is_open = error == 0;
	return error ? fail(ctf, error) : 0;
}

static int close_file(struct ctf *ctf)
{
	int error = tw_output_close(&ctf->out);
	ctf->is_open = false;
	return error ? fail(ctf, error) : 0;
}

static bool make_paths(struct ctf *ctf, const char *path)
{
	ctf->directory = strdup(path);
	for (unsigned i = 0; i < FILES; i++)
		if (asprintf(&ctf->paths[i], "%s/%s", path, files[i]) < 0)
			ctf->paths[i] = NULL;
	return ctf->directory && ctf->paths[STREAM] && ctf->paths[METADATA];
}

/* ---- The target. ---- */

/* The first batch: where there is another processor, it writes packets, most of which is the system's time. */
static void begin(struct ctf *ctf, unsigned jobs)
{
	void *list[PACKETS];
	for (unsigned i = 0; i < PACKETS; i++)
		list[i] = &ctf->packets[i];
	if ((jobs ? jobs : tw_processors()) > 1)
		ctf->behind = tw_behind_new(put_packet, ctf, list, PACKETS);
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
	ctf->out.fd = -1;
	ctf->packet = &ctf->packets[0];
	if (strcmp(writer->path, "-") == 0)
		return tw_writer_fail(writer, TW_ERR_VALUE, "ctf is a directory: it does not go to standard output");
	if (!make_paths(ctf, writer->path))
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	int error = make_directory(ctf);
	return error ? fail(ctf, error) : open_file(ctf, STREAM);
}

static int write_ctf(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct ctf *ctf = writer->state;
	tw_cells_meet(&ctf->cells, reader, batch);
	if (!ctf->begun)
		begin(ctf, reader->options.jobs);
	ctf->day = tw_time_of_day(tw_reader_clock(reader), 0);
	for (size_t i = 0; i < batch->count; i++)
		add_event(ctf, &batch->events[i]);
	if (ctf->failed || ctf->packet->failed || tw_cells_failed(&ctf->cells))
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	return ctf->out.error ? fail(ctf, ctf->out.error) : 0;
}

static int finish_ctf(struct tw_writer *writer)
{
	struct ctf *ctf = writer->state;
	flush_packet(ctf);
	if (ctf->behind)
		tw_behind_end(ctf->behind);
	int status = close_file(ctf);
	if (status == 0)
		status = open_file(ctf, METADATA);
	if (status < 0)
		return status;
	put_description(&ctf->out, ctf->day);
	return close_file(ctf);
}

static void close_ctf(struct tw_writer *writer)
{
	struct ctf *ctf = writer->state;
	tw_behind_free(ctf->behind);
	if (ctf->is_open)
		tw_output_discard(&ctf->out);
	if (ctf->made && !writer->finished)
		rmdir(ctf->directory);
	free(ctf->directory);
	for (unsigned i = 0; i < FILES; i++)
		free(ctf->paths[i]);
	tw_cells_free(&ctf->cells);
	for (unsigned i = 0; i < PACKETS; i++)
		tw_text_free(&ctf->packets[i].text);
	free(ctf);
	writer->state = NULL;
}

static const char *const extensions[] = {".ctf", NULL};

const struct tw_target tw_target_ctf = {
    .name = "ctf",
    .title = "a Common Trace Format directory, for babeltrace2",
    .extensions = extensions,
    .order = TW_ORDER_TIME,
    .directory = true,
    .open = open_ctf,
    .write = write_ctf,
    .finish = finish_ctf,
    .close = close_ctf,
};
