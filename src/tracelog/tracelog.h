/* tracelog.h - TraceLog inside the library: the format and the parts of a reader. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_TRACELOG_H
#define TRACELOG_TRACELOG_H

#include "core/format.h"
#include "tracelog/format/rules.h"

extern const struct tw_format tw_format_tracelog;
extern const struct tw_target tw_target_tracelog;

struct tracelog_events;
struct tracelog_records;
struct tracelog_source_lines;
struct tracelog_summary;

/* What a reader keeps. */
struct tracelog_reader {
	struct tracelog_events *events;   /* made when events are asked for */
	struct tracelog_records *records; /* the same for records */
	struct tracelog_summary *summary; /* the same for info */
};

/* image.c: an image of Trackway's profiler for .NET, of a program that runs or was killed, becomes a log. */
bool tracelog_image_probe(const uint8_t *bytes, size_t size);
int tracelog_image_open(struct tw_reader *reader);

/* reader.c */
int tracelog_look(struct tw_reader *reader);
int tracelog_read(struct tw_reader *reader, struct tw_batch *batch);
int tracelog_find_dependencies(struct tw_reader *reader, struct tw_state_outline *dependencies);
/* Reads the whole log, and notes the lines of all instructions. Findings about PDBs are another reader's. */
int tracelog_find_lines(struct tw_reader *reader, struct tracelog_source_lines *to, struct tw_reader *reporter);
void tracelog_events_free(struct tracelog_events *events);

/* records.c */
int tracelog_read_record(struct tw_reader *reader, struct tw_record *record);
void tracelog_records_free(struct tracelog_records *records);

/* rewrite.c */
int tracelog_repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result);
int tracelog_transcode(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
                       struct tw_rewrite_result *result);

/* info.c */
int tracelog_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info);
void tracelog_summary_free(struct tracelog_summary *summary);

#endif
