/* show.h - how numbers and texts look to people, in one place. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_SHOW_H
#define CLI_OUTPUT_SHOW_H

#include "base/bytes/output.h"
#include "base/memory/memory.h"

#include <trackway/analysis.h>

/* Room for any of these, with the end. */
enum { TW_SHOW_ROOM = 48 };

/* A text in a value, so that it can stand in an argument list. */
struct tw_shown {
	char text[TW_SHOW_ROOM];
};

struct tw_shown tw_show_count(uint64_t count);                         /* "1,234,567" */
struct tw_shown tw_show_id(uint64_t id);                               /* "1234567": a name, not a count */
struct tw_shown tw_show_task(uint64_t id);                             /* of a process or a thread: "1234", "-1" */
struct tw_shown tw_show_duration(uint64_t ns);                         /* four digits and a unit: "1.234 ms" */
struct tw_shown tw_show_size(uint64_t bytes);                          /* "95.4 MiB" */
struct tw_shown tw_show_weight(enum tw_weight weight, uint64_t value); /* by its unit, as the three above */
struct tw_shown tw_show_percent(uint64_t part, uint64_t whole);        /* "12.3 %" */
struct tw_shown tw_show_number(double value);                          /* "1,234.567", "0.001234" */
struct tw_shown tw_show_change(int64_t change, struct tw_shown size);  /* with its sign: "+1.234 ms", "-5" */

/* A word of at most 15 letters in the number that counts it: "1 error", "3 errors". */
struct tw_shown tw_show_plural(uint64_t count, const char *word);

/* What stands before one of them: "" where it is the only one, else "3 programs, such as ". */
struct tw_shown tw_show_such_as(uint64_t count, const char *word);

/* The title of a column of counts: "CALLS", "SAMPLES", "ALLOCATIONS". */
const char *tw_weight_title(enum tw_weight weight);

/* The words of that, in the number that counts: "1 call", "5 samples". */
struct tw_shown tw_show_counted(enum tw_weight weight, uint64_t count);

/* A name, or "(no name)" where it is empty. */
static inline const char *tw_show_name(const char *name)
{
	return *name ? name : "(no name)";
}

/* Seconds with 9 decimals: "0.001234567". */
void tw_put_seconds(struct tw_output *out, uint64_t ns);

/* Text that is safe on a terminal: control characters and what is not UTF-8 as \xNN; characters that cannot be seen, or
 * change the order of what follows, as \u{NNNN}. */
void tw_put_safe(struct tw_output *out, const char *bytes, size_t size);

/* The same onto a growing text. False when there is no memory. */
bool tw_text_add_safe(struct tw_text *text, const char *bytes, size_t size);

/* Columns that safe text takes on a terminal: two for each wide character, none for one that joins the one before. */
size_t tw_text_columns(const char *text);

/* Bytes of safe text that take at most so many columns. */
size_t tw_text_within(const char *text, size_t columns);

/* A file's name as it is shown: standard input has one, as in the library's findings. */
const char *tw_shown_path(const char *path);

/* Adds the names of files, without their directories: "a.xray, b.xray". False when there is no memory. */
bool tw_text_add_files(struct tw_text *text, char **paths, size_t count);

#endif
