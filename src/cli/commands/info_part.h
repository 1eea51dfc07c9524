/* info_part.h - what is in the part of a trace that passes the filters. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDS_INFO_PART_H
#define CLI_COMMANDS_INFO_PART_H

#include <trackway/event.h>
#include <trackway/reader.h>

/* The records are those that dump shows with the same filters. */
struct tw_info_part {
	uint64_t records, events, functions, processes;
	uint64_t passed[TW_EVENT_KINDS]; /* events by kind, but gaps */
	uint64_t start_ns, end_ns;       /* the first and last time of the other events, since the start of the trace */
	struct tw_kind_count *kinds;     /* of records, by name; the names are constants */
	size_t kind_count, kind_room;
	struct tw_thread_info *threads; /* their records are events; bytes are not known */
	size_t thread_count;
};

/* Reads a trace twice. Returns 0, or TW_EXIT_FAILED after saying why. Free in any case. */
int tw_info_part_read(struct tw_info_part *part, const char *path, const struct tw_read_options *options);
void tw_info_part_free(struct tw_info_part *part);

#endif
