/* answer.c - which request gets which answer, and who gets none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/view.h"

#include "view_page.h"

#include <string.h>

/* ---- Files of the page. ---- */

struct file {
	const char *path, *type;
	const unsigned char *bytes;
	size_t size;
	bool page;
};

static const struct file files[] = {
    {"/", "text/html; charset=utf-8", index_html, sizeof index_html, true},
    {"/app.js", "text/javascript; charset=utf-8", app_js, sizeof app_js, false},
    {"/app.css", "text/css; charset=utf-8", app_css, sizeof app_css, false},
};

static bool answer_file(const struct view_request *request, struct view_answer *answer)
{
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (strcmp(request->path, files[i].path) != 0)
			continue;
		answer->type = files[i].type;
		answer->fixed = (const char *)files[i].bytes;
		answer->fixed_size = files[i].size;
		answer->page = files[i].page;
		return true;
	}
	return false;
}

/* ---- All. ---- */

static const struct {
	const char *path;
	void (*answer)(struct view *view, const struct view_request *request, struct view_answer *answer);
} questions[] = {
    {"/api/trace", view_answer_trace}, {"/api/progress", view_answer_progress}, {"/api/window", view_answer_window},
    {"/api/slice", view_answer_slice}, {"/api/near", view_answer_near},         {"/api/search", view_answer_search},
    {"/api/stat", view_answer_stat},   {"/api/flame", view_answer_flame},
};

static bool answer_question(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
		if (strcmp(request->path, questions[i].path) != 0)
			continue;
		questions[i].answer(view, request, answer);
		return true;
	}
	return false;
}

/* By the token, or once by the ticket. */
static bool may_enter(struct view *view, const struct view_request *request)
{
	if (strcmp(request->path, "/") != 0)
		return false;
	if (view_request_may_enter(request, view->token))
		return true;
	return view_request_may_enter(request, view->ticket) && !atomic_exchange(&view->used, true);
}

bool view_is_question(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

void view_answer(struct view *view, struct view_request *request, struct view_answer *answer)
{
	*answer = (struct view_answer){.status = 200, .type = "application/json"};
	if (!view_is_question(request->method)) {
		view_refuse(answer, 405, "only GET and HEAD");
	} else if (!view_request_parse(request)) {
		view_refuse(answer, 400, "the address is none");
	} else if (may_enter(view, request)) {
		answer->status = 303;
		answer->type = "text/plain";
		answer->enters = true;
	} else if (!view_request_is_ours(request, view->port, view->token)) {
		view_refuse(answer, 403,
		            "this is not the page that trackway view has opened: open the address that it printed");
	} else if (!answer_file(request, answer) && !answer_question(view, request, answer)) {
		view_refuse(answer, 404, "there is nothing at this address");
	}
	if (answer->status == 500)
		view_refuse(answer, 500, "out of memory");
}

void view_answer_free(struct view_answer *answer)
{
	tw_text_free(&answer->body);
}
