/* json.c - answers of JSON, and refusals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/view.h"

#include <stdio.h>

bool view_json_begin(struct tw_json *json, struct tw_output *out, struct view_answer *answer)
{
	*json = (struct tw_json){.out = out};
	answer->type = "application/json";
	answer->body.length = 0;
	if (tw_output_text(out, &answer->body) == 0)
		return true;
	answer->status = 500;
	return false;
}

void view_json_end(struct tw_output *out, struct view_answer *answer)
{
	tw_output_flush(out);
	if (out->error)
		answer->status = 500;
	tw_output_close(out);
}

void view_json_digits(struct tw_json *json, const char *key, uint64_t value)
{
	char text[24];
	char *at = text + sizeof text - 1;
	*at = '\0';
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	tw_json_text(json, key, at);
}

void view_refuse(struct view_answer *answer, unsigned status, const char *words)
{
	struct tw_output out;
	struct tw_json json;
	answer->status = status;
	snprintf(answer->words, sizeof answer->words, "%s", words);
	if (!view_json_begin(&json, &out, answer))
		return;
	tw_json_object(&json, NULL);
	tw_json_text(&json, "error", words);
	tw_json_object_end(&json);
	view_json_end(&out, answer);
}
