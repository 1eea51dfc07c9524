/* inject_lines.h - a log with the lines of its source, as the adaptor of the plug-in for Visual Studio writes it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_JOBS_INJECT_LINES_H
#define TRACELOG_JOBS_INJECT_LINES_H

#include <trackway/tracelog.h>

#include <stdbool.h>

struct tracelog_lines_injector;
struct tw_reader;

/* Reads the whole log to find the lines of all instructions in it, from the input spooled where it has to be. *made is
 * NULL where PDBs tell no line, or the log has lines of its own: *own. Returns 0 or a negative status, which has been
 * told. */
int tracelog_inject_lines_new(struct tracelog_lines_injector **made, struct tw_reader *reader, bool *own);
void tracelog_inject_lines_free(struct tracelog_lines_injector *lines);

/* Takes the next record that is to be written, whose list has good items only: each instruction in it becomes the
 * number of its line, 0 where that is not known. Returns whether there was one. The record's list lives until the next
 * call. */
bool tracelog_inject_lines_take(struct tracelog_lines_injector *lines, struct tw_tracelog_record *record);

/* Gives the next record of a line or file to be written before that one: a line comes when its function is announced;
 * at the end of the log, all that are left. False: no more. */
bool tracelog_inject_lines_next(struct tracelog_lines_injector *lines, bool at_end, struct tw_tracelog_record *made);

/* Whether there was no memory. */
bool tracelog_inject_lines_failed(const struct tracelog_lines_injector *lines);

#endif
