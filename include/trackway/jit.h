/* jit.h - what was compiled while the program ran: how long it took, and how large it became. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_JIT_H
#define TRACKWAY_JIT_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All comes from slices of the category "jit", each the compilation of the function that its name is, and "jit-cached",
 * each the search for one that was compiled before. An argument "code_bytes" is the size of the code, which an instant
 * of that category and name tells where it was not known before; an argument "status" that is not 0 says that it
 * failed. What is begun and not known to end (TW_SLICE_BEGIN, TW_FLAG_UNWOUND) is counted as open, without time. Times
 * are wall time: those of a row count once where one compilation of it is inside another, and what each took itself is
 * without the compilations and searches inside it. That wants a trace in TW_ORDER_TRACK or TW_ORDER_TIME. An argument
 * "body" tells which body of its function a compilation makes: 1 is the first.
 *
 * The processor time is that of counters of the category "cpu" (<trackway/cpu.h>): of each interval of the thread the
 * share that it compiled in. */

enum tw_jit_by { TW_JIT_BY_FUNCTION, TW_JIT_BY_THREAD, TW_JIT_BY_BODY };

/* One row. Texts live until the handle is freed. */
struct tw_jit_row {
	const char *name;           /* the function, the thread, or "second": the body; "" where it has no name */
	const char *owner, *module; /* of the function, NULL where not known */
	uint64_t process, thread;   /* by thread */
	uint64_t body;              /* by body: the first of each function is 1; 0 where it is not told */
	bool threadless;            /* of which thread it is, is not told: thread is 0, which may be another's number */
	uint64_t compiled;          /* compilations that ended */
	uint64_t compiled_ns, max_ns;
	uint64_t self_ns; /* of compiled_ns, without others inside */
	uint64_t cpu_ns;  /* processor time of self_ns: an estimate, where cpu_known */
	bool cpu_known;   /* of a compilation's thread it is told how much it used meanwhile */
	uint64_t cached;  /* searches that ended */
	uint64_t cached_ns;
	uint64_t failed; /* of both */
	uint64_t open;
	uint64_t code_bytes; /* of all compilations that ended and tell it */
};

struct tw_jit_options {
	size_t struct_size; /* trackway/status.h */
	enum tw_jit_by by;
	size_t memory_limit; /* bytes for rows; 0: 256 MiB. What belongs to rows beyond is left out and counted. */
};

struct tw_jit;

/* Reads a whole trace, not read from. *jit is set even on failure (NULL only for TW_ERR_MEMORY) and has what was read;
 * free it in any case. options: NULL for the defaults. Returns 0, the negative status of the read, or
 * TW_ERR_VALUE (there are no such rows). */
TW_API int tw_jit_read(struct tw_jit **jit, struct tw_reader *reader, const struct tw_jit_options *options);

/* Returns row i (from 0) in order of name, process and thread; NULL past the last. */
TW_API const struct tw_jit_row *tw_jit_row(const struct tw_jit *jit, size_t i);

/* Returns how long the trace, or the part of it that its options let through, goes on. */
TW_API uint64_t tw_jit_span_ns(const struct tw_jit *jit);

/* Returns how many slices were left out because the memory limit was reached. */
TW_API uint64_t tw_jit_left_out(const struct tw_jit *jit);

/* Frees; NULL is fine. */
TW_API void tw_jit_free(struct tw_jit *jit);

#ifdef __cplusplus
}
#endif

#endif
