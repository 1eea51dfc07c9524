/* export.c - a page with its data in it, which needs no server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/starts.h"
#include "view/serve/window.h"

#include "view_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct tw_text *text, bool *fine, const char *bytes, size_t size)
{
	*fine = *fine && (size == 0 || tw_text_add(text, bytes, size));
}

static void put_words(struct tw_text *text, bool *fine, const char *words)
{
	put(text, fine, words, strlen(words));
}

/* ---- The window: RFC 4648, section 4. ---- */

static void put_base64(struct tw_text *text, bool *fine, const struct tw_text *bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *from = (const uint8_t *)bytes->bytes;
	for (size_t i = 0; i < bytes->length; i += 3) {
		size_t left = bytes->length - i;
		uint32_t group = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
		                 (left > 2 ? from[i + 2] : 0);
		char four[4] = {'=', '=', '=', '='};
		for (unsigned digit = 0; digit < 4 && digit <= left; digit++)
			four[digit] = digits[group >> (18 - 6 * digit) & 63];
		put(text, fine, four, sizeof four);
	}
}

/* As fine as the limit lets it be: at first each slice by itself. The lock is held. */
static bool take_window(struct view *view, size_t most, const struct view_request *request, struct tw_text *bytes,
                        bool *whole)
{
	enum { FINEST = 1 << 20 };
	struct view_index *index = &view->index;
	struct view_window window = {.to = view_end(view, request) + 1,
	                             .start = view->reading.start,
	                             .width = FINEST,
	                             .generation = view->reading.generation,
	                             .later = request->later,
	                             .apart = true,
	                             .most = most};
	uint32_t *tracks = calloc(index->tracks.count + 1, sizeof *tracks);
	bool done = false;
	for (size_t i = 0; tracks && i < index->tracks.count; i++)
		tracks[i] = (uint32_t)i;
	while (tracks && !done && window.width) {
		bytes->length = 0;
		done = view_window_answer(index, &window, tracks, index->tracks.count, bytes);
		*whole = window.apart;
		window.width /= window.apart ? 1 : 2;
		window.apart = false;
	}
	free(tracks);
	return done;
}

/* ---- What the server would answer. ---- */

typedef void (*answer_fn)(struct view *view, const struct view_request *request, struct view_answer *answer);

/* What is gathered for a page. */
struct data {
	struct view *view;
	struct view_request request; /* of each answer: when files begin */
	struct tw_text text;
	bool fine;
};

/* Appends an answer. False: it is refused. */
static bool put_asked(struct data *data, struct tw_text *text, answer_fn ask, char words[static VIEW_ERROR_SIZE])
{
	struct view_questions *questions = &data->view->questions;
	struct view_answer answer = {.status = 200};
	struct view_question *question = view_question_begin(questions, "export", NULL, -1, VIEW_QUESTIONS);
	data->request.question = question;
	if (question)
		ask(data->view, &data->request, &answer);
	if (answer.status == 200)
		view_files_refuse(data->view, &answer);
	if (answer.status != 200)
		snprintf(words, VIEW_ERROR_SIZE, "%s", answer.words);
	bool fine = question && answer.status == 200 && answer.body.length;
	put(text, &fine, answer.body.bytes, answer.body.length);
	if (question)
		view_question_end(questions, question);
	view_answer_free(&answer);
	return fine;
}

static void put_answer(struct data *data, const char *name, answer_fn ask)
{
	put_words(&data->text, &data->fine, name);
	data->fine = data->fine && put_asked(data, &data->text, ask, data->view->error);
}

static void put_text(struct data *data, const char *name, const char *bytes, size_t size)
{
	struct tw_output out;
	put_words(&data->text, &data->fine, name);
	data->fine = data->fine && tw_output_text(&out, &data->text) == 0;
	if (!data->fine)
		return;
	struct tw_json json = {.out = &out};
	tw_json_bytes(&json, NULL, bytes, size);
	data->fine = tw_output_close(&out) == 0;
}

/* JSON Lines as a text in JSON. */
static void put_lines(struct data *data, const char *name, answer_fn ask)
{
	struct tw_text lines = {0};
	data->fine = data->fine && put_asked(data, &lines, ask, data->view->error);
	put_text(data, name, lines.bytes, lines.length);
	tw_text_free(&lines);
}

/* Two traces that cannot be compared have no difference. */
static void put_difference(struct data *data)
{
	char words[VIEW_ERROR_SIZE];
	struct tw_text functions = {0};
	if (data->view->options.count > 1 && put_asked(data, &functions, view_answer_diff, words)) {
		put_words(&data->text, &data->fine, ",\"diff\":");
		put(&data->text, &data->fine, functions.bytes, functions.length);
		put_lines(data, ",\"diff_flame\":", view_answer_diff_flame);
	}
	tw_text_free(&functions);
}

static void put_data(struct data *data, size_t most, const char *state, bool *whole)
{
	struct tw_text window = {0};
	view_lock(data->view);
	data->fine = data->fine && take_window(data->view, most, &data->request, &window, whole);
	view_unlock(data->view);
	put_text(data, "{\"version\":1,\"state\":", state, strlen(state));
	put_answer(data, ",\"trace\":", view_answer_trace);
	put_words(&data->text, &data->fine, ",\"window\":\"");
	put_base64(&data->text, &data->fine, &window);
	put_answer(data, "\",\"stat\":", view_answer_stat);
	put_lines(data, ",\"flame\":", view_answer_flame);
	put_difference(data);
	put_words(&data->text, &data->fine, "}");
	tw_text_free(&window);
}

/* The address of the answers: files begin where the state has them; times for other files, or none, move nothing. */
static bool take_starts(struct view *view, const char *state, struct view_request *request)
{
	static const char name[] = "starts=";
	const char *at = strstr(state, name);
	const bool given = at && (at == state || at[-1] == '&');
	char *address = NULL;
	if (asprintf(&address, "/?%.*s", given ? (int)strcspn(at, "&") : 0, given ? at : "") < 0)
		return false;
	*request = (struct view_request){.method = "GET", .address = address};
	const bool parsed = view_request_parse(request);
	request->address = "/";
	free(address);
	if (!parsed && given) {
		view_request_free(request);
		return take_starts(view, "", request);
	}
	if (parsed && !view_starts_take(view, request)) {
		free(request->later);
		request->later = NULL;
	}
	return parsed;
}

/* ---- The page. ---- */

/* In place of bytes that would end what they stand in: all of them are inside of texts. */
static const struct escape {
	const char *from, *to;
} in_json[] = {{"<", "\\u003c"},
               {">", "\\u003e"},
               {"&", "\\u0026"},
               {"\xe2\x80\xa8", "\\u2028"},
               {"\xe2\x80\xa9", "\\u2029"},
               {NULL, NULL}},
  in_code[] = {{"</script", "<\\/script"}, {"<!--", "<\\!--"}, {NULL, NULL}};

static void put_escaped(struct tw_text *text, bool *fine, const char *bytes, size_t size, const struct escape *escapes)
{
	for (size_t i = 0, begin = 0; i <= size; i++) {
		const struct escape *found = escapes;
		while (
		    i < size && found->from &&
		    (size - i < strlen(found->from) || strncasecmp(bytes + i, found->from, strlen(found->from)) != 0))
			found++;
		if (i < size && !found->from)
			continue;
		put(text, fine, bytes + begin, i - begin);
		if (i == size)
			break;
		put_words(text, fine, found->to);
		i += strlen(found->from) - 1;
		begin = i + 1;
	}
}

/* Puts the page up to a mark, which is left out. False: it is not there. */
static bool put_until(struct tw_text *text, bool *fine, const char **at, const char *mark)
{
	const char *end = (const char *)index_html + sizeof index_html;
	const char *found = memmem(*at, (size_t)(end - *at), mark, strlen(mark));
	if (!found)
		return false;
	put(text, fine, *at, (size_t)(found - *at));
	*at = found + strlen(mark);
	return true;
}

static const char policy[] = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
			     "'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
			     "form-action 'none'\">\n";

int view_export(struct view *view, size_t most, const char *state, struct tw_text *page, bool *whole)
{
	const char *at = (const char *)index_html;
	struct data data = {.view = view};
	data.fine = take_starts(view, state, &data.request);
	put_data(&data, most, state, whole);
	bool fine = data.fine, known = put_until(page, &fine, &at, "<link rel=\"stylesheet\" href=\"app.css\">");
	put_words(page, &fine, policy);
	put_words(page, &fine, "<style>");
	put(page, &fine, (const char *)app_css, sizeof app_css);
	put_words(page, &fine, "</style>");
	known = known && put_until(page, &fine, &at, "<script src=\"app.js\" defer></script>");
	put(page, &fine, at, (size_t)((const char *)index_html + sizeof index_html - at));
	put_words(page, &fine, "<script type=\"application/json\" id=\"trackway-data\">");
	put_escaped(page, &fine, data.text.bytes, data.text.length, in_json);
	put_words(page, &fine, "</script>\n<script>");
	put_escaped(page, &fine, (const char *)app_js, sizeof app_js, in_code);
	put_words(page, &fine, "</script>\n");
	tw_text_free(&data.text);
	view_request_free(&data.request);
	if (!known)
		return TW_ERR_UNSUPPORTED;
	return fine ? 0 : *view->error ? TW_ERR_SYSTEM : TW_ERR_MEMORY;
}
