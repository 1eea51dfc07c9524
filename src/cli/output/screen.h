/* screen.h - where a listing goes: a file, a pipe, or a terminal through the pager. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_SCREEN_H
#define CLI_OUTPUT_SCREEN_H

#include "base/bytes/output.h"

#include <sys/types.h>

/* All zero is a screen not opened yet. */
struct tw_screen {
	struct tw_output out;
	const char *path; /* NULL: standard output */
	bool open;
	bool terminal; /* a person reads it now */
	bool color;
	unsigned width; /* columns that fit in a line, 0: any number, as in a file */
	pid_t pager;    /* 0: none */
	bool markdown;  /* tables are written in Markdown */
	bool from_rows; /* what is written are rows in JSON, that become a table when it is closed: Markdown or CSV */
	bool csv_safe;  /* CSV of them is for a spreadsheet */
	int rows;       /* the temporary file with them */
};

/* Whether what is written to path would go to a terminal. */
bool tw_goes_to_terminal(const char *path);

/* Opens path, NULL and "-" being standard output. Text that goes to a terminal goes through a pager. Opening an open
 * screen does nothing. Returns 0 or TW_EXIT_FAILED after saying why. */
int tw_screen_open(struct tw_screen *screen, const char *path);

/* The same where the options say, in the form that they ask for (tw_choose_form()). */
struct tw_common;
int tw_screen_open_form(struct tw_screen *screen, const struct tw_common *common);

/* Completes the file, waits for the pager. Returns 0, or TW_EXIT_FAILED after saying why (silent when nobody reads any
 * more). A screen never opened is fine. */
int tw_screen_close(struct tw_screen *screen);

/* The same at the end of a command with a status, which is returned where closing went well. */
int tw_screen_end(struct tw_screen *screen, int status);

/* Gives up what was written, and closes. */
void tw_screen_discard(struct tw_screen *screen);

/* Begins and ends bold text, where there is colour. */
void tw_screen_bold(struct tw_screen *screen);
void tw_screen_plain(struct tw_screen *screen);

#endif
