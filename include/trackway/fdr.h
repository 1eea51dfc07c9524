/* fdr.h - XRay's flight data recorder logs and basic logs, record by record.
 *
 * Sources: LLVM's "XRay Flight Data Recorder Trace Format" (version 1, called "the document" here) and what LLVM's
 * runtime and reader do beyond it ("LLVM"). doc/formats/xray-fdr.md, in the sources, tells the whole format. Nothing
 * here allocates, does I/O or keeps globals. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_FDR_H
#define TRACKWAY_FDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	TW_FDR_HEADER_SIZE = 32,   /* file header, both types */
	TW_FDR_FUNCTION_SIZE = 8,  /* a function record */
	TW_FDR_METADATA_SIZE = 16, /* a metadata record without the payload of an event */
	TW_FDR_RECORD_MAX = 16,    /* the most bytes that a record takes, without the payload of an event */
	TW_BASIC_RECORD_SIZE = 32  /* a record of a basic log */
};

/* In which order a log's bytes and bit fields stand. */
enum tw_fdr_layout {
	TW_FDR_LITTLE,  /* little endian, bit fields from the least significant bit: what real runtimes write */
	TW_FDR_BIG_MSB, /* big endian, bit fields from the most significant bit: the document, "Function Records" */
	TW_FDR_BIG_LSB  /* big-endian scalars, bit fields from the least significant bit: what LLVM's reader takes */
};

/* The file header. Source: the document, "Header Section". */
struct tw_fdr_header {
	uint16_t version; /* FDR 1 to 5, basic 1 to 3 */
	uint16_t type;    /* 0 basic, 1 FDR */
	bool constant_tsc, nonstop_tsc;
	uint32_t reserved_bits;   /* the 30 bits after them, as found; LLVM leaves them uninitialised */
	uint64_t cycle_frequency; /* ticks per second */
	uint64_t buffer_size; /* of one thread's buffer in bytes; the document calls it the size of the data section */
	uint64_t reserved;    /* the last 8 bytes as found */
	enum tw_fdr_layout layout;
};

/* Reads a header of either type from the first bytes of a log, of which there are `size`, at least TW_FDR_HEADER_SIZE.
 * The byte order is the one in which version and type make sense; the bit order of a big-endian FDR log is told by the
 * first records after the header, as far as they are there: give it 256 bytes if you can, it looks at no more.
 * Returns 0, TW_ERR_ROOM when size is too small, or TW_ERR_FORMAT when version and type make no sense in either
 * order. */
TW_API int tw_fdr_header_decode(const uint8_t *bytes, size_t size, struct tw_fdr_header *header);

/* Writes the 32 bytes of a header; reserved bits and bytes are written as they stand in *header. */
TW_API void tw_fdr_header_encode(const struct tw_fdr_header *header, uint8_t bytes[TW_FDR_HEADER_SIZE]);

/* The kinds of record. Functions have the number of their action; metadata has 16 + the number of its kind.
 *
 * X(name, number, text) */
#define TW_FDR_KIND_LIST(X)                                                                                            \
	X(TW_FDR_ENTER, 0, "function.enter")                                                                           \
	X(TW_FDR_EXIT, 1, "function.exit")                                                                             \
	X(TW_FDR_TAIL_EXIT, 2, "function.tail-exit")                                                                   \
	X(TW_FDR_ENTER_ARGS, 3, "function.enter-args")                                                                 \
	X(TW_FDR_NEW_BUFFER, 16, "new-buffer")                                                                         \
	X(TW_FDR_END_OF_BUFFER, 17, "end-of-buffer")                                                                   \
	X(TW_FDR_NEW_CPU_ID, 18, "new-cpu-id")                                                                         \
	X(TW_FDR_TSC_WRAP, 19, "tsc-wrap")                                                                             \
	X(TW_FDR_WALL_TIME, 20, "wall-time")                                                                           \
	X(TW_FDR_CUSTOM_EVENT, 21, "custom-event")                                                                     \
	X(TW_FDR_CALL_ARGUMENT, 22, "call-argument")                                                                   \
	X(TW_FDR_BUFFER_EXTENTS, 23, "buffer-extents")                                                                 \
	X(TW_FDR_TYPED_EVENT, 24, "typed-event")                                                                       \
	X(TW_FDR_PID, 25, "pid")

enum tw_fdr_kind {
#define X(name, number, text) name = number,
	TW_FDR_KIND_LIST(X)
#undef X
	    TW_FDR_KINDS = 26
};

/* Returns the name of a kind as TW_FDR_KIND_LIST has it, NULL for a number that is none. */
TW_API const char *tw_fdr_kind_name(unsigned kind);

/* One record. Which members hold something depends on the kind; the others are 0. */
struct tw_fdr_record {
	enum tw_fdr_kind kind;
	uint32_t size;        /* bytes in the log, with payload */
	uint32_t function_id; /* function records: 28 bits */
	uint32_t tsc_delta; /* function records; custom events of version 5 and typed events (there signed, as found) */
	uint64_t tsc;       /* new-cpu-id, tsc-wrap, custom events of versions 1 to 4: absolute */
	uint64_t value;     /* call-argument: the argument; buffer-extents: bytes that follow in this buffer;
	                         wall-time: seconds; new-buffer: thread id as int32_t, sign extended; pid: likewise */
	uint32_t microseconds;  /* wall-time */
	uint16_t cpu;           /* new-cpu-id; custom events of version 4 */
	uint16_t event_type;    /* typed-event */
	const uint8_t *payload; /* custom and typed events: into the input bytes; NULL when payload_size is 0 */
	uint32_t payload_size;
	bool padded; /* some byte that means nothing is not 0 */
};

/* Where in a buffer the decoder stands. Set up: bytes, left, version and layout; the rest is 0. */
struct tw_fdr_decoder {
	const uint8_t *bytes; /* the next record */
	size_t left;
	uint16_t version; /* of the header: decides the layout of custom events */
	enum tw_fdr_layout layout;
	size_t need; /* after TW_ERR_ROOM: the bytes that the record takes */
};

/* Decodes the next record. Returns its size (> 0) and moves on; 0 at the end of the bytes; TW_ERR_ROOM when the record
 * goes beyond the bytes (decoder->need says what it takes, more may follow); TW_ERR_FORMAT when there is no record of
 * that kind; TW_ERR_VALUE for an event with a size of 0 or less. On failure *record holds the kind where it is known,
 * and the decoder has not moved. */
TW_API int tw_fdr_next(struct tw_fdr_decoder *decoder, struct tw_fdr_record *record);

/* Encodes a record for a log of that version and layout into room bytes at out. Unused bytes are 0. An event whose
 * payload is NULL is encoded up to its payload: payload_size bytes must follow. Returns the bytes written;
 * TW_ERR_ROOM when room is too small; TW_ERR_VALUE when there is no such version or layout, or it has no place for
 * the record or for one of its values (a function id above 28 bits; a thread or process id above 32 bits; an event of
 * size 0; end-of-buffer after version 1; in TW_FDR_BIG_LSB a function id with bit 20 set, whose record would read as
 * metadata). */
TW_API int tw_fdr_encode(const struct tw_fdr_record *record, uint16_t version, enum tw_fdr_layout layout, uint8_t *out,
                         size_t room);

/* ---- Basic logs. Source: LLVM, xray_records.h and loadNaiveFormatLog(). ---- */

/* A record of a basic log: a function's entry or exit, or an argument of the entry before it. */
struct tw_basic_record {
	uint16_t record_type; /* 0 function, 1 argument */
	uint8_t cpu;          /* function */
	uint8_t kind;         /* function: enum tw_fdr_kind 0 to 3 */
	int32_t function_id;
	uint64_t tsc; /* function */
	uint32_t thread;
	uint32_t process;  /* version 3; before, 0 (function) */
	uint64_t argument; /* argument */
	bool padded;       /* some byte that means nothing is not 0 */
};

/* Decodes one record. Returns 0, TW_ERR_FORMAT for an unknown record type, TW_ERR_VALUE for an unknown kind of function
 * record. Tail exits are read in every version, process ids from version 3 on. */
TW_API int tw_basic_decode(const uint8_t bytes[TW_BASIC_RECORD_SIZE], uint16_t version, enum tw_fdr_layout layout,
                           struct tw_basic_record *record);

/* Encodes one record; bytes that mean nothing are 0. Returns 0, or TW_ERR_VALUE when there is no such version or
 * layout, or it has no place for the record: tail exits came with version 2. */
TW_API int tw_basic_encode(const struct tw_basic_record *record, uint16_t version, enum tw_fdr_layout layout,
                           uint8_t bytes[TW_BASIC_RECORD_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
