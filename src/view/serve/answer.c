/* answer.c - which request gets which answer, and who gets none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/parameters.h"
#include "view/serve/starts.h"

#include "view_page.h"

#include <stdio.h>
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

#define PLACE "track lane depth item"
#define PART "from to tracks"

/* Of an address with two forms the first parameter tells which one it is. */
static const struct question {
	const char *path;
	void (*answer)(struct view *view, const struct view_request *request, struct view_answer *answer);
	const char *needs, *takes; /* parameters */
	size_t places;             /* for questions that read the trace once more, and can be ended; 0: it does not */
	bool slices;               /* it reads the slices once more that the index does not keep */
} questions[] = {
    {"/api/trace", view_answer_trace, "", "", 0, false},
    {"/api/progress", view_answer_progress, "", "", 0, false},
    {"/api/window", view_answer_window, "from to width names tracks", "exact outer", 0, false},
    {"/api/slice", view_answer_slice, PLACE, "", 0, true},
    {"/api/find", view_answer_find, "track begin name", "end depth", 0, true},
    {"/api/near", view_answer_near, "name at direction", "tracks " PLACE, 0, true},
    {"/api/near", view_answer_near, "text at direction", PLACE, 0, true},
    {"/api/near", view_answer_near, PLACE " direction", "", 0, true},
    {"/api/counters", view_answer_counters, "from to tracks", "", 0, false},
    {"/api/search", view_answer_search, "", "text limit question", VIEW_QUESTIONS, false},
    {"/api/stat", view_answer_stat, "", PART " question", VIEW_QUESTIONS, false},
    {"/api/flame", view_answer_flame, "", PART " question", VIEW_QUESTIONS, false},
    {"/api/diff", view_answer_diff, "", "from to before after question", VIEW_QUESTIONS, false},
    {"/api/diff-flame", view_answer_diff_flame, "", "from to before after question", VIEW_QUESTIONS, false},
    {"/api/sql", view_answer_sql, "query", "limit " PART " question", VIEW_QUESTIONS_OF_SQL, false},
    {"/api/details", view_answer_details, PLACE, "question", VIEW_QUESTIONS, false},
    {"/api/flows", view_answer_flows, "from to", "tracks limit question", VIEW_QUESTIONS, false},
    {"/api/question", view_answer_question, "question", "", 0, false},
    {"/api/cancel", view_answer_cancel, "question", "", 0, false},
};

/* All places are taken. */
static void refuse_more(struct view *view, struct view_answer *answer)
{
	char asked[VIEW_ERROR_SIZE / 2], words[VIEW_ERROR_SIZE];
	view_questions_list(&view->questions, asked, sizeof asked);
	snprintf(words, sizeof words, "too many questions at once: stop one of %s, or wait", asked);
	view_refuse(answer, 503, words);
}

/* NULL: there is none. */
static const struct question *question_of(const struct view_request *request)
{
	const struct question *found = NULL;
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
		if (strcmp(request->path, questions[i].path) != 0)
			continue;
		found = &questions[i];
		if (view_parameters_begin(request, found->needs))
			break;
	}
	return found;
}

static void answer_reading(struct view *view, struct view_request *request, struct view_answer *answer,
                           const struct question *question)
{
	request->question = view_question_begin(&view->questions, strrchr(question->path, '/') + 1,
	                                        view_request_text(request, "question"),
	                                        request->socket > 0 ? request->socket : -1, question->places);
	if (!request->question) {
		refuse_more(view, answer);
		return;
	}
	if (!view_files_refuse(view, answer))
		question->answer(view, request, answer);
	if (answer->status == 200)
		view_files_refuse(view, answer);
	if (view_question_stops(request->question))
		view_refuse(answer, 409, "interrupted");
	view_question_end(&view->questions, request->question);
	request->question = NULL;
}

static bool reads_slices(struct view *view)
{
	view_lock(view);
	const bool reads = view->index.store.spans;
	view_unlock(view);
	return reads;
}

static bool answer_question(struct view *view, struct view_request *request, struct view_answer *answer)
{
	char words[256];
	const struct question *question = question_of(request);
	if (!question)
		return false;
	if (!view_parameters_fit(request, question->needs, question->takes, words, sizeof words))
		view_refuse(answer, 400, words);
	else if (!view_starts_take(view, request))
		view_refuse(answer, 400, "starts wants a time for each file, and 0 for the first");
	else if (question->places)
		answer_reading(view, request, answer, question);
	else if (!question->slices || !reads_slices(view) || !view_files_refuse(view, answer))
		question->answer(view, request, answer);
	return true;
}

/* By the token, or once by the ticket. */
static bool may_enter(struct view *view, const struct view_request *request)
{
	if (strcmp(request->path, "/") != 0)
		return false;
	if (view_request_may_enter(request, view->server.token))
		return true;
	return view_request_may_enter(request, view->server.ticket) && !atomic_exchange(&view->server.used, true);
}

bool view_is_question(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

bool view_admit(struct view *view, struct view_request *request, struct view_answer *answer)
{
	*answer = (struct view_answer){.status = 200, .type = "application/json"};
	if (!view_is_question(request->method))
		view_refuse(answer, 405, "only GET and HEAD");
	else if (request->fault)
		view_refuse(answer, 400, request->fault);
	else if (!view_request_parse(request))
		view_refuse(answer, 400,
		            strlen(request->address) > VIEW_ADDRESS_MOST ? "the address is too long"
		                                                         : "the address is none");
	else if (may_enter(view, request))
		answer->enters = true;
	else if (!view_request_is_ours(request, view->server.port, view->server.token))
		view_refuse(answer, 403,
		            "this is not the page that trackway view has opened: open the address that it printed");
	return answer->status == 200;
}

void view_answer_admitted(struct view *view, struct view_request *request, struct view_answer *answer)
{
	if (answer->enters) {
		answer->status = 303;
		answer->type = "text/plain";
	} else if (!answer_file(request, answer) && !answer_question(view, request, answer)) {
		view_refuse(answer, 404, "there is nothing at this address");
	}
	if (answer->status == 500)
		view_refuse(answer, 500, "out of memory");
}

void view_answer(struct view *view, struct view_request *request, struct view_answer *answer)
{
	if (view_admit(view, request, answer))
		view_answer_admitted(view, request, answer);
}

void view_answer_free(struct view_answer *answer)
{
	tw_text_free(&answer->body);
}
