/* diff.h - what trackway diff shows, and the forms it is written in. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_DIFF_H
#define CLI_REPORTS_DIFF_H

#include "base/text/json.h"
#include "cli/options/options.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"
#include "cli/output/table.h"

#include <trackway/report.h>

/* The traces of both sides: those before come first. */
struct tw_diff_paths {
	char **paths;
	size_t count[2];
};

static inline size_t tw_diff_all(const struct tw_diff_paths *paths)
{
	return paths->count[0] + paths->count[1];
}

/* The side of trace number i. */
static inline size_t tw_diff_side_of(const struct tw_diff_paths *paths, size_t i)
{
	return i >= paths->count[0];
}

/* What is shown of a diff. */
struct tw_diff_view {
	const struct tw_diff *diff;
	const struct tw_common *common; /* --function */
	enum tw_diff_by by;
	enum tw_weight weight;
	uint64_t top;       /* rows; 0: all */
	const size_t *runs; /* of both sides */
};

/* The picture. */
struct tw_diff_flame {
	const char *output, *title;
	enum tw_form form; /* SVG, HTML or folded */
	bool normalize, inverted;
	double min_share; /* struct tw_flame_options */
};

/* Whether a file is of stacks with two numbers, as far as its beginning tells: not of pipes. */
bool tw_diff_is_both(const struct tw_common *common, const char *path);

/* Read the traces of both sides, or a file of stacks with two numbers, and write the picture or such lines. Return enum
 * tw_exit. */
int tw_diff_flame_traces(struct tw_common commons[2], const struct tw_diff_paths *paths,
                         const struct tw_diff_flame *flame);
int tw_diff_flame_lines(const struct tw_common *common, const char *path, const struct tw_diff_flame *flame);

/* What is compared that are no functions. */
struct tw_diff_choice {
	const struct tw_common *common;
	const char *of;
	uint64_t top;
};

/* Reads the traces and lists what changed. Returns enum tw_exit. */
int tw_diff_spreads(struct tw_common commons[2], const struct tw_diff_paths *paths,
                    const struct tw_diff_choice *choice);

/* Word number i of --of, NULL past the last; and whether it (NULL: the first) is functions. */
const char *tw_diff_of_word(size_t i);
bool tw_diff_of_functions(const char *word);

/* Says that they cannot be compared. */
int tw_diff_say_weights(enum tw_weight a, enum tw_weight b);

/* Whether no row is to be shown. */
bool tw_diff_is_empty(const struct tw_diff_view *view);

void tw_diff_put_json(struct tw_output *out, const struct tw_diff_view *view);

/* Returns 0, or TW_EXIT_FAILED after saying that there was no memory. */
int tw_diff_put_text(struct tw_screen *screen, const struct tw_diff_view *view);

/* Whether a change is more than chance, over so many runs: as members of JSON, and as cells. */
struct tw_diff_test {
	enum tw_significance significance;
	double p, low, high;
};
void tw_diff_put_test(struct tw_json *json, const struct tw_diff_test *test, const size_t runs[2]);
struct tw_shown tw_diff_show_p(const struct tw_diff_test *test);
struct tw_shown tw_diff_show_interval(struct tw_shown low, struct tw_shown high);

/* Whether changes are tested: there are enough runs. */
static inline bool tw_diff_is_tested(const size_t runs[2])
{
	return runs[0] >= TW_RUNS_LEAST && runs[1] >= TW_RUNS_LEAST;
}

/* Says what is not known where there are too few. */
void tw_diff_say_runs(const size_t runs[2]);

/* A value of both sides as members of JSON: NAME_a, NAME_b, NAME_change, NAME_ratio. */
void tw_diff_put_whole(struct tw_json *json, const char *name, uint64_t a, uint64_t b, double ratio);
void tw_diff_put_number(struct tw_json *json, const char *name, double a, double b, double ratio);

const char *tw_diff_status_word(enum tw_diff_status status);

/* The change as a cell: "+12.3 %", "25x", "gone", "new"; "-" of a ratio that is not finite. */
struct tw_shown tw_diff_show_ratio(enum tw_diff_status status, double ratio);

/* All zero to begin. */
struct tw_diff_columns {
	struct tw_table_column columns[TW_TABLE_COLUMNS];
	struct tw_shown titles[TW_TABLE_COLUMNS];
	size_t count;
};

/* Chooses the columns: the value of both sides, the change, its interval and P where it is tested, then what is added
 * to them, and the name. */
void tw_diff_choose_columns(struct tw_diff_columns *columns, const char *title, bool tested);
void tw_diff_add_column(struct tw_diff_columns *columns, const char *title, bool right);
void tw_diff_add_sides(struct tw_diff_columns *columns, const char *title);

/* Writes the table, and how many rows are not in it. Returns as tw_table_put(). */
int tw_diff_end_text(struct tw_screen *screen, struct tw_table *table, uint64_t more);

/* Word number i of --sort, NULL past the last; and what a word means (NULL: the first). */
const char *tw_diff_word(size_t i);
enum tw_diff_by tw_diff_by_word(const char *word);

#endif
