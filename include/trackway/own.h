/* own.h - a trace of a program's own: names, tracks, stacks and events that it makes, written in any format by
 * trackway/writer.h, or read as every other trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_OWN_H
#define TRACKWAY_OWN_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A dictionary of one's own. It only grows. One thread at a time. What returns a number returns TW_NO_NUMBER when
 * there is no memory, or where what it is made of does not exist; the same again gets the same number. ---- */

#define TW_NO_NUMBER UINT32_MAX

/* Returns a dictionary that holds number 0 of everything, NULL when there is no memory. */
TW_API struct tw_dictionary *tw_dictionary_new(void);

/* Frees it, with all that was returned about it. NULL is fine. */
TW_API void tw_dictionary_free(struct tw_dictionary *dictionary);

/* The number of a name that is terminated: of events, categories, arguments, threads, functions. "" is 0. */
TW_API uint32_t tw_dictionary_text(struct tw_dictionary *dictionary, const char *text);

/* The number of a name of which more is known. Names are told apart by text and id. The text is copied; `file` is
 * borrowed, and must live as long as the dictionary; `owner` and `module` are other names, 0: none. */
TW_API uint32_t tw_dictionary_intern(struct tw_dictionary *dictionary, const struct tw_name *name);

/* The number of the track of (kind, process, thread). A process has its name by a track of the kind TW_TRACK_PROCESS,
 * whose thread is 0; a thread by its own. */
TW_API uint32_t tw_dictionary_add_track(struct tw_dictionary *dictionary, const struct tw_track *track);

/* Gives a track a name. Nothing is done where one of the two does not exist. */
TW_API void tw_dictionary_name_track(struct tw_dictionary *dictionary, uint32_t track, uint32_t name);

/* The number of a location. Locations are told apart by name and address; of one that is there, file and line stay as
 * they were. */
TW_API uint32_t tw_dictionary_add_location(struct tw_dictionary *dictionary, const struct tw_location *location);

/* The number of the stack of a location that was called from another stack; 0: from none. Frames are pushed from the
 * outermost to the innermost. */
TW_API uint32_t tw_dictionary_push(struct tw_dictionary *dictionary, uint32_t caller, uint32_t location);

/* ---- A trace of them. ---- */

/* What the pointers point to must live until the reader is closed. */
struct tw_own_trace {
	size_t struct_size; /* trackway/status.h */
	const char *name;   /* in messages; NULL: "a trace of its own" */
	struct tw_dictionary *dictionary;
	/* Times of events are nanoseconds on this clock. start_ns: that of the earliest event. ticks_per_second is told
	 * by formats with ticks; 0: 1000000000. */
	struct tw_clock clock;
	/* Gives the next events, each track's in time order, and all of them where options->order is TW_ORDER_TIME.
	 * Returns how many, 0 at the end, or a negative status. The batch lives until the next call. It is called by
	 * one thread at a time, which need not be that of the caller. Names that come with a batch are added in it.
	 * NULL: nothing is read; batches are given to tw_write(). */
	int (*read)(void *context, struct tw_batch *batch);
	void *context;
};

/* Opens a trace of one's own, for tw_write(), and where it has `read` for all that reads events. Its format is "own";
 * it has no records, no survey (tw_read_info()), and is not parted. *reader is set as by tw_open(); close it before the
 * dictionary is freed. Events whose kind, names, track, provider, stack or, by kind, other track do not exist, whose
 * duration ends after UINT64_MAX, or which lack the argument that their kind must have (TW_LOG, TW_BLOB, TW_COUNTER)
 * are refused with their batch by tw_read() and tw_write(): TW_ERR_VALUE.
 * Returns 0, TW_ERR_MEMORY, or TW_ERR_VALUE (no dictionary; options that name no order). */
TW_API int tw_open_own(struct tw_reader **reader, const struct tw_own_trace *trace,
                       const struct tw_read_options *options);

#ifdef __cplusplus
}
#endif

#endif
