/* command.h - the subcommands: one table entry and one file for each. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/options/options.h"

struct tw_output;

/* How the tool ends. The worst of several files counts. */
enum tw_exit {
	TW_EXIT_FINE,
	TW_EXIT_FINDINGS, /* the work was done; the input is damaged, or --strict found a loss */
	TW_EXIT_FAILED    /* wrong use, nothing readable, or the output could not be written */
};

/* The worse of two. */
static inline int tw_worse(int a, int b)
{
	return a > b ? a : b;
}

struct tw_command {
	const char *name;
	const char *summary;                         /* one line, begins small, no full stop */
	const char *operands;                        /* "FILE...", for the usage line; "" for none */
	const char *description;                     /* paragraphs, with an empty line between them */
	const char *exit_status;                     /* NULL: as of the tool */
	const char *examples;                        /* lines, each "command\tsentence\n"; NULL for none */
	const struct tw_option_group *const *groups; /* the last NULL */
	size_t size;          /* of the struct that the options fill; it begins with a struct tw_common */
	unsigned least, most; /* operands; most 0: any number */
	/* What its listing is written as where nobody asks, and the others, 1 << enum tw_form: that the command writes
	 * itself, and that are made of its rows in JSON. None: what it writes is no listing. */
	enum tw_form form;
	unsigned forms, from_rows;
	bool (*names_freely)(const struct tw_common *options); /* whether what is written is none; NULL: it always is */
	int (*run)(struct tw_common *options, char **operands, size_t count); /* returns enum tw_exit */
	const char *missing;                   /* what this build lacks for it; NULL: nothing */
	void (*manual)(struct tw_output *out); /* more sections for the manual page, in roff; NULL for none */
	const char *(*word)(size_t i);         /* operands are these words; NULL: they are files */
};

/* The forms of commands whose text is tables, and of those whose text is lines. */
#define TW_FORMS_OF_TABLES                                                                                             \
	.forms = 1u << TW_FORM_TEXT | 1u << TW_FORM_JSON | 1u << TW_FORM_MARKDOWN, .from_rows = 1u << TW_FORM_CSV
#define TW_FORMS_OF_PICTURED_TABLES                                                                                    \
	.forms = 1u << TW_FORM_TEXT | 1u << TW_FORM_JSON | 1u << TW_FORM_MARKDOWN | 1u << TW_FORM_SVG,                 \
	.from_rows = 1u << TW_FORM_CSV
#define TW_FORMS_OF_LINES                                                                                              \
	.forms = 1u << TW_FORM_TEXT | 1u << TW_FORM_JSON, .from_rows = 1u << TW_FORM_CSV | 1u << TW_FORM_MARKDOWN

/* X(name): each is a `const struct tw_command tw_command_NAME` in NAME.c; this is the order of the help. */
#define TW_COMMAND_LIST(X)                                                                                             \
	X(info)                                                                                                        \
	X(dump)                                                                                                        \
	X(check)                                                                                                       \
	X(repair)                                                                                                      \
	X(convert)                                                                                                     \
	X(cut)                                                                                                         \
	X(merge)                                                                                                       \
	X(stat)                                                                                                        \
	X(stacks)                                                                                                      \
	X(graph)                                                                                                       \
	X(flame)                                                                                                       \
	X(diff)                                                                                                        \
	X(counters)                                                                                                    \
	X(sched)                                                                                                       \
	X(alloc)                                                                                                       \
	X(jit)                                                                                                         \
	X(gc)                                                                                                          \
	X(cpu)                                                                                                         \
	X(blobs)                                                                                                       \
	X(names)                                                                                                       \
	X(log)                                                                                                         \
	X(insns)                                                                                                       \
	X(blocks)                                                                                                      \
	X(branches)                                                                                                    \
	X(mem)                                                                                                         \
	X(cache)                                                                                                       \
	X(syscalls)                                                                                                    \
	X(calls)                                                                                                       \
	X(phases)                                                                                                      \
	X(slice)                                                                                                       \
	X(record)                                                                                                      \
	X(providers)                                                                                                   \
	X(snapshot)                                                                                                    \
	X(replay)                                                                                                      \
	X(sql)                                                                                                         \
	X(view)                                                                                                        \
	X(load)                                                                                                        \
	X(completion)                                                                                                  \
	X(help)

#define X(name) extern const struct tw_command tw_command_##name;
TW_COMMAND_LIST(X)
#undef X

/* Command number i, NULL past the last. */
const struct tw_command *tw_command_at(size_t i);

/* NULL when there is none. */
const struct tw_command *tw_command_named(const char *name);

/* Name of command number i, NULL past the last. */
const char *tw_command_name(size_t i);

#endif
