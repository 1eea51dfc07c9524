/* output_form.c - in which form a listing is written: text, JSON, CSV or a picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/output_form.h"

#include "base/bytes/compress.h"
#include "base/bytes/output.h"
#include "base/text/utf8.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"

#include <string.h>

enum tw_form tw_form_of(const struct tw_common *common, const struct tw_form_options *forms)
{
	const char *path = common->output ? common->output : "-";
	if (common->json)
		return TW_FORM_JSON;
	if (forms->csv || (!forms->svg && tw_name_ends_with(path, ".csv")))
		return TW_FORM_CSV;
	return forms->svg || tw_name_ends_with(path, ".svg") ? TW_FORM_SVG : TW_FORM_TEXT;
}

int tw_check_form(const struct tw_command *command, const struct tw_common *common, const struct tw_form_options *forms)
{
	if (common->json + forms->csv + forms->svg > 1)
		return tw_say_usage(command, "only one of --json%s and --svg", forms->csv ? ", --csv" : "");
	if (tw_form_of(common, forms) == TW_FORM_SVG && tw_goes_to_terminal(common->output))
		return tw_say_usage(command, "a picture does not go to a terminal: -o FILE.svg");
	return 0;
}

/* Bytes of the character at the front, or 0 where it is no UTF-8. */
static size_t whole(const char *bytes, size_t size)
{
	return (signed char)*bytes >= 0 ? 1 : tw_utf8_length(bytes, size);
}

void tw_put_csv(struct tw_output *out, const char *bytes, size_t size)
{
	bool quotes = false;
	for (size_t i = 0; i < size && !quotes; i++)
		quotes = memchr(",\"\r\n", bytes[i], 4);
	tw_put_text(out, quotes ? "\"" : "");
	for (size_t length; size; bytes += length, size -= length) {
		size_t taken = whole(bytes, size);
		length = taken ? taken : 1;
		if (*bytes == '"')
			tw_put_char(out, '"');
		tw_put(out, taken ? bytes : "\xef\xbf\xbd", taken ? taken : 3);
	}
	tw_put_text(out, quotes ? "\"" : "");
}

void tw_put_csv_text(struct tw_output *out, const char *text)
{
	tw_put_csv(out, text, strlen(text));
}
