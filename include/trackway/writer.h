/* writer.h - writing events as a trace of some format, converting and repairing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_WRITER_H
#define TRACKWAY_WRITER_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tw_byte_order {
	TW_BYTES_AS_SOURCE, /* tw_transcode() and tw_repair(); for tw_create() little endian */
	TW_BYTES_LITTLE,
	TW_BYTES_BIG, /* xray-fdr: bit fields from the most significant bit, as the document has them */
	/* xray-fdr: bit fields from the least significant bit, as LLVM reads them; else as TW_BYTES_BIG. */
	TW_BYTES_BIG_LSB
};

struct tw_clickhouse_options;

/* How to write. All zero is the default for every member. */
struct tw_write_options {
	size_t struct_size;            /* trackway/status.h */
	const char *format;            /* tw_transcode(): the target format; NULL: the source's */
	unsigned version;              /* of the target format; 0: the newest, or the source's for tw_transcode() */
	enum tw_byte_order byte_order; /* formats with a choice */
	uint64_t buffer_size; /* xray-fdr: size of a buffer in bytes; 0: 16384, or the source's for tw_transcode() */
	/* folded: what is counted, a word of TW_WEIGHT_LIST (trackway/analysis.h); NULL: samples where the source tells
	 * by them where time goes (their wall time where none has ticks), else the time of calls, else what there
	 * is. */
	const char *weight;
	uint64_t ticks_per_second; /* formats with ticks; 0: the source's, else 1000000000 */
	const char *dialect;       /* tracelog: "d0" to "d3"; NULL: the source's */
	/* xray-fdr, xray-basic: where to write the table of the function ids that names without one were given, a line
	 * each: the id, a tab, the name (with \t, \n, \r and \\ for what would break it). No file when there are
	 * none; NULL: nowhere, and the names are losses. */
	const char *functions;
	const struct tw_clickhouse_options *clickhouse; /* clickhouse: trackway/clickhouse.h. NULL: its defaults */
	bool csv_safe; /* csv: a text that a spreadsheet takes for a formula has an apostrophe in front */
};

/* What a target could not hold. `what` is a constant ("counter", "argument", ...). */
struct tw_loss {
	const char *what;
	uint64_t approximated; /* kept in another form */
	uint64_t left_out;
};

/* A trace that is being written. One handle, one thread at a time. */
struct tw_writer;

/* Creates a trace. path: the file, or "-" for standard output; the file appears under its name only when tw_finish()
 * succeeds, and is compressed when its name ends in ".gz" or ".zst"; so it is with all functions below. A path without
 * a leading '/' is looked up by tw_finish() too: the working directory must be the same by then. format: a name of
 * tw_writer_format_name(). options: NULL for the defaults; what its pointers point to must live until tw_discard().
 * *writer is set even on failure (NULL only for TW_ERR_MEMORY), so that tw_writer_error() can tell why; discard it in
 * any case.
 * Returns 0, TW_ERR_MEMORY, TW_ERR_SYSTEM, TW_ERR_FORMAT (no such format), TW_ERR_UNSUPPORTED (a format for which
 * tw_writer_takes_events() is false), TW_ERR_VALUE (no path or no format; options that the format cannot
 * have). */
TW_API int tw_create(struct tw_writer **writer, const char *path, const char *format,
                     const struct tw_write_options *options);

/* Where a trace goes that is no file with a name. */
struct tw_sink {
	size_t struct_size; /* trackway/status.h */
	const char *name; /* in messages; one that ends in ".gz" or ".zst" compresses as a path does. NULL: "output" */
	/* Takes all of these bytes; it may be called by another thread, but by one at a time. Returns 0, or an errno:
	 * then writing has failed. NULL: they go to the descriptor. */
	int (*write)(void *context, const void *bytes, size_t size);
	void *context;
	int fd; /* stays open, and is the caller's */
};

/* As tw_create(), for a sink: what was written before a failure has gone there. TW_ERR_UNSUPPORTED for formats that are
 * directories (ctf). */
TW_API int tw_create_sink(struct tw_writer **writer, const struct tw_sink *sink, const char *format,
                          const struct tw_write_options *options);

/* The same for memory, and the trace once tw_finish() has succeeded, for the caller to free(). NULL and 0 before, or
 * when it has been taken. */
TW_API int tw_create_memory(struct tw_writer **writer, const char *format, const struct tw_write_options *options);
TW_API void *tw_writer_take(struct tw_writer *writer, size_t *size);

/* Writes a batch of a reader's events, or of one's own (trackway/own.h). The reader tells names, tracks and clock, some
 * of them at the end: it must be the same one for all batches, and open until tw_finish() returns or the writer is
 * discarded. What the format cannot hold is counted, never an error. Returns 0 or a negative status: TW_ERR_VALUE,
 * nothing being written, where there is no reader, or one that is not open, or no batch, where an event is of a kind
 * that does not exist, or the writer is finished. */
TW_API int tw_write(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch);

/* Completes the file. Call it once, after the last batch; then only losses, error and discard are legal.
 * Returns 0 or a negative status (the disk is full: TW_ERR_SYSTEM; it was called before: TW_ERR_VALUE). */
TW_API int tw_finish(struct tw_writer *writer);

/* Frees the handle; a file not finished is removed. NULL is fine. */
TW_API void tw_discard(struct tw_writer *writer);

/* Returns loss number i (from 0), NULL past the last. Lives until tw_discard(). */
TW_API const struct tw_loss *tw_writer_loss(const struct tw_writer *writer, size_t i);

/* One line about the last failure; never NULL. */
TW_API const char *tw_writer_error(const struct tw_writer *writer);

/* Returns the order of events that a target format wants its reader to deliver. */
TW_API enum tw_order tw_writer_order(const char *format);

/* Whether tw_create() can write a format. False for one that is only written record by record, by tw_transcode() from a
 * trace of the same format. */
TW_API bool tw_writer_takes_events(const char *format);

/* Returns the one format that a target format is made of, by tw_transcode() with options->format; NULL where it is
 * made of events, or only of its own. */
TW_API const char *tw_writer_source(const char *format);

/* Returns the name of the format number i (from 0) that can be written, NULL past the last. */
TW_API const char *tw_writer_format_name(size_t i);

/* Returns the format that a file name asks for by its ending ("x.json" and "x.json.gz": "chrome"), NULL when none
 * does. */
TW_API const char *tw_writer_format_of(const char *path);

/* ---- Whole files, record by record. ---- */

struct tw_rewrite_result {
	uint64_t records_in, records_out;
	uint64_t records_changed; /* kept, but with something of it approximated */
	/* Left out: repair could not trust them, or the target version has no place for them. */
	uint64_t records_dropped;
	uint64_t lost_bytes;    /* of the input that no record could be read from */
	uint64_t missing_bytes; /* that are not in the input and should be, at least: it was cut */
	uint64_t bytes_out;     /* before compression */
	bool nothing_passed;    /* tw_transcode() with filters: no event passes them */
};

/* Writes what can be saved of a trace: every record that can be trusted, sizes and counts made right, padding zero. The
 * reader is used up. Findings tell what was wrong. What a record is depends on what follows it where bytes are damaged:
 * so the result may have errors, though seldom, which repairing it finds. Returns 0 or a negative status:
 * TW_ERR_UNSUPPORTED where the format has no repair; TW_ERR_EMPTY where nothing can be saved: then there is no
 * output. */
TW_API int tw_repair(struct tw_reader *reader, const char *path, struct tw_rewrite_result *result);

/* Writes a trace again in its own format, record by record, in another version or byte order; or in options->format,
 * where tw_writer_source() of that is the source's. The reader is used up. Options 0: as the source; options NULL: all
 * of them. Where tw_writer_takes_events() is false, only what passes the reader's filters. Returns 0 or a negative
 * status: TW_ERR_UNSUPPORTED where the format, or options->format from this source, is not written record by record;
 * then the reader can still be read. */
TW_API int tw_transcode(struct tw_reader *reader, const char *path, const struct tw_write_options *options,
                        struct tw_rewrite_result *result);

#ifdef __cplusplus
}
#endif

#endif
