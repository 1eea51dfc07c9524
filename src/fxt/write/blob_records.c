/* blob_records.c - blobs to FXT: blob records, or a large one.
 *
 * The bytes of a large record may come in parts, and events between them, of other threads or traces: those wait in a
 * file until the last part has been written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/temporary.h"
#include "fxt/write/writer.h"

enum large_format { WITH_METADATA, WITHOUT_METADATA };

enum { NO_TYPE }; /* of a blob: large ones have none */

/* As many blob records as it takes, at least one. */
static void put_pieces(struct fxt_writer *w, const struct tw_event *event, const uint8_t *bytes, uint64_t size)
{
	struct tw_output *out = &w->writer->out;
	struct fxt_string_ref name = fxt_string(w->tables, event->name);
	uint64_t type = fxt_limited(w, event->id, FXT_BYTE_MAX, "blob type");
	do {
		struct fxt_new_record record = fxt_record_begin(out, w->tables->big);
		fxt_put_text(&record, &name);
		size_t room = fxt_record_left(&record) * TW_FXT_WORD;
		size_t piece = size < room ? (size_t)size : room;
		fxt_put_stream(&record, bytes, piece);
		fxt_record_end(out, &record,
		               TW_FXT_TYPE_BLOB | (uint64_t)name.reference << 16 | (uint64_t)piece << 32 | type << 48);
		bytes += piece;
		size -= piece;
	} while (size);
}

static uint64_t padding(uint64_t size)
{
	return fxt_words(size) * TW_FXT_WORD - size;
}

/* Ends what of a large record goes through the buffer of a record: all but its bytes. */
static void end_head(struct tw_output *out, const struct fxt_new_record *record, enum large_format format,
                     uint64_t size)
{
	uint64_t all = fxt_record_words(record) + fxt_words(size);
	tw_store64(record->start, TW_FXT_TYPE_LARGE | all << 4 | (uint64_t)format << 40, record->big);
	tw_output_took(out, (size_t)(record->at - record->start));
}

/* The document, "In-band large BLOB record", with metadata where the event has more than a category and a name. */
static void put_head(struct fxt_writer *w, const struct tw_event *event, uint64_t size)
{
	struct tw_output *out = &w->writer->out;
	struct fxt_arguments list = {.count = 0};
	enum large_format format = event->track || event->argument_count > 1 ? WITH_METADATA : WITHOUT_METADATA;
	fxt_no_place(w, event->id > 1 ? event->id : 0, "blob type"); /* 1: bytes of no known form */
	fxt_add_arguments(w, &list, event, 1);
	struct fxt_string_ref category = fxt_string(w->tables, event->category),
			      name = fxt_string(w->tables, event->name);
	uint64_t thread = format == WITH_METADATA ? fxt_thread_index(w->tables, event->track) : 0, count = 0;
	struct fxt_new_record record = fxt_record_begin(out, w->tables->big);
	fxt_put_word(&record, 0); /* its place: the number of arguments is not known yet */
	fxt_put_text(&record, &category);
	fxt_put_text(&record, &name);
	if (format == WITH_METADATA) {
		fxt_put_word(&record, fxt_ticks_of(w, event->time));
		if (thread == 0)
			fxt_put_koids(w, &record, event->track);
		count = fxt_put_arguments(w, &record, &list, 1);
	}
	fxt_put_word(&record, size);
	tw_store64(record.start + TW_FXT_WORD,
	           category.reference | (uint64_t)name.reference << 16 | count << 32 | thread << 36, record.big);
	end_head(out, &record, format, size);
}

static bool fits(uint64_t size)
{
	return size / TW_FXT_WORD < UINT32_MAX - TW_FXT_RECORD_MAX;
}

/* ---- In parts. ---- */

/* Bytes that a file that was cut meanwhile does not have any more become zeros. */
void fxt_end_large(struct fxt_writer *w)
{
	struct fxt_large *large = &w->large;
	struct tw_output *out = &w->writer->out;
	if (!large->open)
		return;
	tw_output_turn_aside(out, NULL);
	if (large->left)
		fxt_loss(w, tw_event_kind_name(TW_BLOB), true);
	fxt_put_zeros(out, large->left + padding(large->event.value));
	tw_output_put_back(out, large->aside);
	large->open = false;
}

static void put_part(struct fxt_writer *w, const struct tw_event *event, const struct tw_argument *bytes)
{
	struct fxt_large *large = &w->large;
	uint64_t size = bytes->size < large->left ? bytes->size : large->left;
	tw_output_turn_aside(&w->writer->out, NULL);
	tw_put(&w->writer->out, bytes->value.bytes, (size_t)size);
	large->left -= size;
	if (event->flags & TW_FLAG_PARTIAL)
		tw_output_turn_aside(&w->writer->out, &large->aside);
	else
		fxt_end_large(w);
}

/* Without a temporary file it is written as small ones. */
static bool begins_large(struct fxt_writer *w, const struct tw_event *event)
{
	bool begins = event->flags & TW_FLAG_PARTIAL && event->other == TW_BLOB_FIRST_PART && !w->large.in_parts &&
	              !w->large.open && event->id <= 1 && fits(event->value);
	if (begins && w->large.aside < 0)
		w->large.aside = tw_temporary_open(w->directory);
	return begins && w->large.aside >= 0;
}

static void begin_large(struct fxt_writer *w, const struct tw_event *event, const struct tw_argument *bytes)
{
	put_head(w, event, event->value);
	w->large.open = true;
	w->large.event = *event;
	w->large.left = event->value;
	put_part(w, event, bytes);
}

/* Whether it is a part of the large record that is open. */
static bool goes_on(const struct fxt_writer *w, const struct tw_event *event)
{
	const struct tw_event *first = &w->large.event;
	return w->large.open && event->other == TW_BLOB_LATER_PART && event->time == first->time &&
	       event->value == first->value && event->name == first->name && event->category == first->category &&
	       event->track == first->track && event->provider == first->provider;
}

/* ---- Any. ---- */

void fxt_put_blob(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	(void)as;
	const struct tw_argument *first = fxt_first_argument(w, event);
	bool has_bytes = first && first->type >= TW_ARG_TEXT;
	bool large = event->id == NO_TYPE; /* as no other blob record has it */
	bool described = large || event->category || event->track || event->argument_count > has_bytes;
	if (has_bytes && goes_on(w, event)) {
		put_part(w, event, first);
		return;
	}
	if (has_bytes && begins_large(w, event)) {
		begin_large(w, event, first);
		return;
	}
	bool part = w->large.in_parts || event->flags & TW_FLAG_PARTIAL;
	w->large.in_parts = event->flags & TW_FLAG_PARTIAL;
	if (has_bytes && described && !part && fits(first->size)) {
		put_head(w, event, first->size);
		tw_put(&w->writer->out, first->value.bytes, (size_t)first->size);
		fxt_put_zeros(&w->writer->out, padding(first->size));
		return;
	}
	if (described)
		fxt_loss(w, tw_event_kind_name(TW_BLOB), true);
	put_pieces(w, event, has_bytes ? first->value.bytes : (const uint8_t *)"", has_bytes ? first->size : 0);
}
