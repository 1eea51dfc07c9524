/* screen.c - where a listing goes: a file, a pipe, or a terminal through the pager. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/screen.h"

#include "cli/command.h"
#include "cli/output/message.h"
#include "cli/output/pager.h"

#include <errno.h>
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
	screen->width = screen->pager ? 0 : terminal_width();
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

int tw_screen_close(struct tw_screen *screen)
{
	if (!screen->open)
		return 0;
	screen->open = false;
	int error = tw_output_close(&screen->out);
	if (screen->pager && !tw_pager_wait(screen->pager))
		return tw_say_error("nothing was shown, because the pager could not be run: TRACKWAY_PAGER or PAGER "
		                    "names it");
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
