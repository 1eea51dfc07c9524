/* export.c - a page with its data in it, which needs no server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/view.h"
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
static bool take_window(struct view *view, size_t most, struct tw_text *bytes, bool *whole)
{
	enum { FINEST = 1 << 20 };
	struct view_index *index = &view->index;
	struct view_window window = {.to = index->end - view->reading.start + 1,
	                             .start = view->reading.start,
	                             .width = FINEST,
	                             .generation = view->reading.generation,
	                             .apart = true,
	                             .most = most};
	uint32_t *tracks = calloc(index->tracks.count + 1, sizeof *tracks);
	bool done = false;
	for (size_t i = 0; tracks && i < index->tracks.count; i++)
		tracks[i] = (uint32_t)i;
	if (view->reading.start > index->end)
		window.to = 1;
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

/* False: it is refused. */
static bool put_asked(struct view *view, struct tw_text *text, answer_fn ask, char words[static VIEW_ERROR_SIZE])
{
	struct view_request request = {.method = "GET", .address = "/"};
	struct view_answer answer = {.status = 200};
	request.question = view_question_begin(&view->questions, "export", NULL, -1, VIEW_QUESTIONS);
	if (request.question && view_request_parse(&request))
		ask(view, &request, &answer);
	if (answer.status != 200)
		snprintf(words, VIEW_ERROR_SIZE, "%s", answer.words);
	bool fine = request.question && answer.status == 200 && answer.body.length;
	put(text, &fine, answer.body.bytes, answer.body.length);
	if (request.question)
		view_question_end(&view->questions, request.question);
	view_request_free(&request);
	view_answer_free(&answer);
	return fine;
}

static void put_answer(struct view *view, struct tw_text *text, bool *fine, answer_fn ask)
{
	*fine = *fine && put_asked(view, text, ask, view->error);
}

/* JSON Lines as a text in JSON. */
static void put_lines(struct view *view, struct tw_text *text, bool *fine, answer_fn ask)
{
	struct tw_text lines = {0};
	struct tw_output out;
	put_answer(view, &lines, fine, ask);
	if (*fine && tw_output_text(&out, text) == 0) {
		struct tw_json json = {.out = &out};
		tw_json_bytes(&json, NULL, lines.bytes, lines.length);
		tw_output_flush(&out);
		*fine = !out.error;
		tw_output_close(&out);
	} else {
		*fine = false;
	}
	tw_text_free(&lines);
}

/* Two traces that cannot be compared have no difference. */
static void put_difference(struct view *view, struct tw_text *text, bool *fine)
{
	char words[VIEW_ERROR_SIZE];
	struct tw_text functions = {0};
	if (view->options.count > 1 && put_asked(view, &functions, view_answer_diff, words)) {
		put_words(text, fine, ",\"diff\":");
		put(text, fine, functions.bytes, functions.length);
		put_words(text, fine, ",\"diff_flame\":");
		put_lines(view, text, fine, view_answer_diff_flame);
	}
	tw_text_free(&functions);
}

static bool put_data(struct view *view, struct tw_text *text, size_t most, bool *whole)
{
	struct tw_text window = {0};
	view_lock(view);
	bool fine = take_window(view, most, &window, whole);
	view_unlock(view);
	put_words(text, &fine, "{\"version\":1,\"trace\":");
	put_answer(view, text, &fine, view_answer_trace);
	put_words(text, &fine, ",\"window\":\"");
	put_base64(text, &fine, &window);
	put_words(text, &fine, "\",\"stat\":");
	put_answer(view, text, &fine, view_answer_stat);
	put_words(text, &fine, ",\"flame\":");
	put_lines(view, text, &fine, view_answer_flame);
	put_difference(view, text, &fine);
	put_words(text, &fine, "}");
	tw_text_free(&window);
	return fine;
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

int view_export(struct view *view, size_t most, struct tw_text *page, bool *whole)
{
	const char *at = (const char *)index_html;
	struct tw_text data = {0};
	bool fine = put_data(view, &data, most, whole);
	bool known = put_until(page, &fine, &at, "<link rel=\"stylesheet\" href=\"app.css\">");
	put_words(page, &fine, policy);
	put_words(page, &fine, "<style>");
	put(page, &fine, (const char *)app_css, sizeof app_css);
	put_words(page, &fine, "</style>");
	known = known && put_until(page, &fine, &at, "<script src=\"app.js\" defer></script>");
	put(page, &fine, at, (size_t)((const char *)index_html + sizeof index_html - at));
	put_words(page, &fine, "<script type=\"application/json\" id=\"trackway-data\">");
	put_escaped(page, &fine, data.bytes, data.length, in_json);
	put_words(page, &fine, "</script>\n<script>");
	put_escaped(page, &fine, (const char *)app_js, sizeof app_js, in_code);
	put_words(page, &fine, "</script>\n");
	tw_text_free(&data);
	if (!known)
		return TW_ERR_UNSUPPORTED;
	return fine ? 0 : *view->error ? TW_ERR_SYSTEM : TW_ERR_MEMORY;
}
