/* part.h - which part of a trace a question is about. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_PART_H
#define VIEW_SERVE_PART_H

#include "view/serve/view.h"

#include <trackway/analysis.h>

#define VIEW_ANY_FILE SIZE_MAX

/* A thread as its file has it, or all of a process. */
struct view_pick {
	size_t file;              /* VIEW_ANY_FILE: it is not known which */
	uint64_t process, thread; /* thread: TW_ANY_THREAD for all */
};

struct view_part {
	struct tw_read_options options;
	uint64_t *threads, *processes;
	struct view_pick *picks; /* of the same tracks */
	uint64_t from, to;       /* on the axis of who asks; to 0: to the end */
	bool picked;             /* it is known of all of them */
};

/* Takes from, to and tracks of a request, each of which may be missing. False where one is none. Free it in any case.
 */
bool view_part_take(struct view *view, const struct view_request *request, struct view_part *part);
void view_part_free(struct view_part *part);

/* Refuses --min-duration of the command line where samples are weighed, as `trackway stat` does. False: it is fine. */
bool view_part_refuse_durations(const struct view *view, enum tw_weight weight, struct view_answer *answer);

/* Makes options for one of the files, on its own clock; tracks are not in them. False where the window has nothing of
 * it. */
bool view_part_of_file(struct view *view, const struct view_request *request, const struct view_part *part, size_t file,
                       struct tw_read_options *options);

/* Reads the part into whatever takes it: all files as one, or, where they are moved or tracks are chosen, one after the
 * other. False: the answer is a refusal. */
typedef int view_part_add(void *context, struct tw_reader *reader);
bool view_part_read(struct view *view, const struct view_request *request, struct view_part *part, view_part_add *add,
                    void *context, struct view_answer *answer);

#endif
