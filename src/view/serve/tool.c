/* tool.c - views for the tool: opened, served, closed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tool.h"

#include "view/serve/tables.h"
#include "view/serve/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* ---- Opening. ---- */

static int fail(struct view *view, int status, const char *words)
{
	snprintf(view->error, sizeof view->error, "%s", words);
	return status;
}

static int make_token(struct view *view, char token[static VIEW_TOKEN_SIZE + 1])
{
	unsigned char bytes[VIEW_TOKEN_SIZE / 2];
	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return fail(view, TW_ERR_SYSTEM, strerror(errno));
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static void *run(void *context)
{
	view_read_or_check(context);
	return NULL;
}

static int start(struct view *view)
{
	int status = view_begin(view);
	if (status < 0)
		return status;
	int error = pthread_create(&view->thread, NULL, run, view);
	view->running = error == 0;
	return error ? fail(view, TW_ERR_SYSTEM, strerror(error)) : 0;
}

int view_open(struct view **opened, const struct view_options *options)
{
	struct view *view = *opened = view_new(options);
	if (!view)
		return TW_ERR_MEMORY;
	view->sql.missing = view_tables_load(options->read.memory_limit);
	for (size_t i = 0; i < VIEW_USES; i++)
		if (!(view->sql.tables[i] = view_tables_new()))
			return fail(view, TW_ERR_MEMORY, "out of memory");
	int status = make_token(view, view->server.token);
	status = status ? status : make_token(view, view->server.ticket);
	return status ? status : start(view);
}

bool view_uses_index(const struct view *view)
{
	return view->keeper.loaded;
}

const char *view_error(const struct view *view)
{
	return view->error;
}

int view_serve(struct view *view, unsigned port)
{
	int status = view_http_start(view, port);
	static const char form[] = "http://127.0.0.1:%u/?token=%s";
	snprintf(view->server.address, sizeof view->server.address, form, view->server.port, view->server.token);
	snprintf(view->server.address_once, sizeof view->server.address_once, form, view->server.port,
	         view->server.ticket);
	if (status == 0)
		view_follow(view);
	return status;
}

const char *view_address(const struct view *view)
{
	return view->server.address;
}

const char *view_address_once(const struct view *view)
{
	return view->server.address_once;
}

const char *view_reading_error(const struct view *view)
{
	return view->reading.error;
}

uint64_t view_error_count(const struct view *view)
{
	return view->reading.reader ? tw_reader_findings(view->reading.reader, TW_ERROR)
	                            : view->reading.progress.errors;
}

uint64_t view_event_count(const struct view *view)
{
	return view->index.events;
}

void view_wait(struct view *view)
{
	if (view->running)
		pthread_join(view->thread, NULL);
	view->running = false;
}

void view_close(struct view *view)
{
	if (!view)
		return;
	__atomic_store_n(&view->stop, 1, __ATOMIC_RELAXED);
	view_http_stop(view);
	view_follow_end(view);
	view_wait(view);
	for (size_t i = 0; i < VIEW_USES; i++)
		view_tables_free(view->sql.tables[i]);
	view_free(view);
}
