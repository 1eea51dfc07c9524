/* screen.c - where a listing goes: a file, a pipe, or a terminal through the pager. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/screen.h"

#include "base/bytes/temporary.h"
#include "cli/command.h"
#include "cli/output/message.h"
#include "cli/output/pager.h"
#include "cli/output/row_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80, LEAST_WIDTH = 40 };

bool tw_goes_to_terminal(const char *path)
{
	return (!path || strcmp(path, "-") == 0) && isatty(STDOUT_FILENO);
}

static unsigned terminal_width(void)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return USUAL_WIDTH;
	return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}

static int open_terminal(struct tw_screen *screen)
{
	int fd = STDOUT_FILENO;
	screen->terminal = true;
	screen->color = tw_color_wanted(STDOUT_FILENO);
	screen->pager = tw_pager_start(&fd);
	screen->width = terminal_width();
	return tw_output_fd(&screen->out, fd);
}

int tw_screen_open(struct tw_screen *screen, const char *path)
{
	if (screen->open)
		return 0;
	screen->path = path && strcmp(path, "-") != 0 ? path : NULL;
	int error;
	if (tw_goes_to_terminal(path))
		error = open_terminal(screen);
	else
		error = tw_output_open(&screen->out, path ? path : "-");
	if (error)
		return tw_say_error("%s: cannot write: %s", path ? path : "standard output", strerror(error));
	screen->open = true;
	return 0;
}

/* Rows wait in a temporary file, because only the last of them tells the last column. */
static int open_rows(struct tw_screen *screen, const struct tw_common *common)
{
	const char *folder = tw_temporary_place(tw_temporary_folder());
	screen->path = common->output && strcmp(common->output, "-") != 0 ? common->output : NULL;
	screen->rows = tw_temporary_open(folder);
	int own = screen->rows < 0 ? -1 : fcntl(screen->rows, F_DUPFD_CLOEXEC, 0);
	int error = own < 0 ? errno : tw_output_fd(&screen->out, own);
	if (error)
		return tw_say_error("no temporary file can be made in %s: %s", folder, strerror(error));
	screen->csv_safe = common->forms.csv_safe;
	screen->from_rows = screen->open = true;
	return 0;
}

int tw_screen_open_form(struct tw_screen *screen, const struct tw_common *common)
{
	screen->markdown = common->forms.chosen == TW_FORM_MARKDOWN;
	if (screen->open || !common->forms.from_rows)
		return tw_screen_open(screen, common->output);
	return open_rows(screen, common);
}

/* From the rows that were written, in the place that they were asked for. */
static int put_rows(struct tw_screen *screen)
{
	struct tw_screen table = {0};
	int error = tw_output_close(&screen->out);
	FILE *rows = error ? NULL : fdopen(screen->rows, "r");
	if (!rows) {
		close(screen->rows);
		return tw_say_error("a temporary file cannot be written: %s", strerror(error ? error : errno));
	}
	enum tw_row_table_form form = screen->markdown   ? TW_ROWS_MARKDOWN
	                              : screen->csv_safe ? TW_ROWS_CSV_SAFE
	                                                 : TW_ROWS_CSV;
	bool fine = true;
	int status = tw_screen_open(&table, screen->path);
	if (status == 0)
		fine = tw_row_table_put(&table.out, rows, form);
	fclose(rows);
	if (fine)
		return tw_screen_end(&table, status);
	tw_screen_discard(&table);
	return tw_say_error("out of memory");
}

void tw_screen_discard(struct tw_screen *screen)
{
	tw_output_discard(&screen->out);
	if (screen->from_rows)
		close(screen->rows);
	screen->open = screen->from_rows = false;
}

int tw_screen_close(struct tw_screen *screen)
{
	if (!screen->open)
		return 0;
	screen->open = false;
	if (screen->from_rows)
		return put_rows(screen);
	int error = tw_output_close(&screen->out);
	if (screen->pager && !tw_pager_wait(screen->pager))
		return tw_say_error("nothing was shown, because the pager could not be run: TRACKWAY_PAGER or PAGER "
		                    "names it");
	if (error == EPIPE && screen->pager)
		return 0; /* its user has seen enough */
	if (error && error != EPIPE)
		tw_say_error("%s: cannot write: %s", screen->path ? screen->path : "standard output", strerror(error));
	return error ? TW_EXIT_FAILED : 0;
}

int tw_screen_end(struct tw_screen *screen, int status)
{
	int closed = tw_screen_close(screen);
	return closed ? closed : status;
}

void tw_screen_bold(struct tw_screen *screen)
{
	if (screen->color)
		tw_put_text(&screen->out, "\033[1m");
}

void tw_screen_plain(struct tw_screen *screen)
{
	if (screen->color)
		tw_put_text(&screen->out, "\033[m");
}
