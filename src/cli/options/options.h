/* options.h - tables of options: parsing, help, manual pages and completion all come from them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_OPTIONS_H
#define CLI_OPTIONS_OPTIONS_H

#include <trackway/analysis.h>
#include <trackway/xtrace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tw_command;

/* What an option takes, and the type of the member that it fills. */
enum tw_option_kind {
	TW_OPTION_FLAG,     /* nothing: bool */
	TW_OPTION_TEXT,     /* any text: const char * */
	TW_OPTION_FILE,     /* a file name: const char * */
	TW_OPTION_CHOICE,   /* one of a few words: const char *, the word as the table has it */
	TW_OPTION_COUNT,    /* uint64_t */
	TW_OPTION_NUMBER,   /* a number that may be 0: struct tw_option_number */
	TW_OPTION_SIZE,     /* bytes, "64M": uint64_t */
	TW_OPTION_DURATION, /* nanoseconds, "1.5ms": uint64_t */
	TW_OPTION_HERTZ,    /* "2.1GHz": uint64_t */
	TW_OPTION_NUMBERS,  /* "1,2,3", may be repeated: struct tw_numbers */
	TW_OPTION_WHO,      /* the same, and names or globs: struct tw_numbers with `names` */
	TW_OPTION_LIST,     /* any text, may be repeated: struct tw_list */
	TW_OPTION_FILES,    /* the same, file names */
	TW_OPTION_NAMED     /* "2=request", may be repeated: struct tw_named */
};

struct tw_list {
	const char **items;
	size_t count, room;
};

struct tw_numbers {
	uint64_t *items;
	size_t count, room;
	struct tw_list names; /* TW_OPTION_WHO: what is no number; the texts are its own */
};

/* Numbers and what they are called. */
struct tw_named {
	struct tw_event_name *items;
	size_t count, room;
};

struct tw_option_number {
	uint64_t value;
	bool given;
};

/* Options as they were typed, in their order. */
struct tw_typed {
	struct tw_typed_option {
		const struct tw_option *option;
		const char *text; /* its value; NULL: it takes none */
	} * items;
	size_t count, room;
};

struct tw_option {
	const char *name; /* without the dashes */
	char letter;      /* 0: no short form */
	enum tw_option_kind kind;
	size_t offset;                   /* of the member in the command's struct */
	const char *placeholder;         /* "FILE"; NULL for flags and choices */
	const char *help;                /* begins small, no full stop */
	const char *const *words;        /* choices: the words, the last NULL; or: */
	const char *(*choice)(size_t i); /* word number i, NULL past the last */
	uint64_t least, most;            /* numbers: what makes sense; most 0: any */
	bool may_be_empty;               /* texts */
	bool filters;                    /* leaves things out */
};

/* Options that belong together under one heading. */
struct tw_option_group {
	const char *title;
	const struct tw_option *options;
	size_t count;
};

/* A group of options that a command has for itself, as an item of its list of groups. */
#define TW_OPTIONS(title, table)                                                                                       \
	&(const struct tw_option_group)                                                                                \
	{                                                                                                              \
		title, table, sizeof(table) / sizeof *(table)                                                          \
	}

/* The groups of a command; its help is the last of each. */
#define TW_OPTION_GROUPS(...)                                                                                          \
	{                                                                                                              \
		__VA_ARGS__, &tw_help_options, NULL                                                                    \
	}

/* What a listing can be written as. */
enum tw_form {
	TW_FORM_TEXT,
	TW_FORM_JSON, /* JSON Lines */
	TW_FORM_CSV,
	TW_FORM_MARKDOWN,
	TW_FORM_SVG,
	TW_FORM_HTML,
	TW_FORM_FOLDED,
	TW_FORM_DOT,
	TW_FORM_DATABASE,
	TW_FORMS
};

/* What the shared groups below fill. Every command's struct begins with one. */
struct tw_common {
	bool help;
	const char *from;
	struct { /* what gives functions their names */
		const char *maps;
		const char *kallsyms;
		struct tw_list binaries;
		bool no_demangle;
		struct tw_option_number load_address; /* of `binaries` */
	} names;
	struct tw_named events;
	struct tw_xtrace_read_options xtrace;
	struct {
		uint64_t jobs;
		uint64_t memory;
		uint64_t reorder_window;
	} limits;
	uint64_t frequency;
	enum tw_counts counts; /* diff: of a file that is both sides */
	struct {
		struct tw_numbers threads, processes;
		const char *provider;
		const char *function;
		const char *category;
		uint64_t from_time, to_time, min_duration;
		bool given; /* an option that leaves things out, even if it leaves out nothing: --from-time 0 */
	} filter;
	const char *weight;
	bool fold_async;
	const char *pdb_folder;
	struct tw_typed typed; /* set by tw_options_parse() */
	size_t behind;         /* how many operands stand behind "--"; set by tw_options_parse() */
	const char *output;    /* NULL: standard output */
	struct {               /* the options that ask for a form */
		/* json is set by tw_choose_form(), too, where another form is made of rows. */
		bool json, csv, csv_safe, markdown, svg, html, folded, dot;
		enum tw_form chosen; /* set by tw_choose_form() */
		bool from_rows;      /* set by tw_choose_form(): the form is made of the rows in JSON */
	} forms;
};

extern const struct tw_option_group tw_help_options; /* --help */
extern const struct tw_option_group
    tw_input_options; /* --from, --memory, --reorder-window, --xtrace-layout, and those that give names */
extern const struct tw_option_group tw_plain_input_options; /* the same without names */
extern const struct tw_option_group tw_xtrace_options;      /* --xtrace-layout, and names */
extern const struct tw_option_group tw_jobs_options;        /* --jobs */
extern const struct tw_option_group tw_filter_options;      /* --thread, --provider, --function, --category, times */
extern const struct tw_option_group tw_weight_options;      /* --weight, --fold-async */
extern const struct tw_option_group tw_window_options;      /* --thread, --provider, --from-time, --to-time */
extern const struct tw_option_group tw_output_options;      /* --output, --json, --csv, --markdown */

/* Option number i of a command, over all its groups, help's own first; NULL past the last. */
const struct tw_option *tw_option_at(const struct tw_command *command, size_t i);

/* Word number i of a choice, NULL past the last. */
const char *tw_option_word(const struct tw_option *option, size_t i);

/* Whether an option is one of a group. */
bool tw_option_is_of(const struct tw_option *option, const struct tw_option_group *group);

/* The place of a word in a list that has it; 0 where it was not given. */
size_t tw_word_place(const char *const *words, const char *word);

/* Fills the command's struct from argv[1..], and moves the operands to the end of argv: *first is the index of the
 * first. Returns 0, or TW_EXIT_FAILED after saying what is wrong. */
int tw_options_parse(const struct tw_command *command, int argc, char **argv, struct tw_common *values, int *first);

/* Whether --function lets a name through; NULL is no name. */
bool tw_function_wanted(const struct tw_common *common, const char *name);

/* Whether numbers or names were given. */
bool tw_chooses(const struct tw_numbers *who);

/* Whether there is any of the options that leave things out. */
bool tw_has_filters(const struct tw_common *common);

/* --weight. */
enum tw_weight tw_weight_asked(const struct tw_common *common);

/* --jobs; 0: as many as there are processors. */
unsigned tw_jobs(const struct tw_common *common);

/* --memory, or its default. */
size_t tw_memory_asked(const struct tw_common *common);

/* $TMPDIR; NULL where it is not set, or empty. */
const char *tw_temporary_folder(void);

/* Frees the command's struct, and what parsing allocated for it. */
void tw_options_free(const struct tw_command *command, struct tw_common *values);

#endif
