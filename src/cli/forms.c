/* forms.c - in which form a listing is written: text, JSON, CSV or a picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/forms.h"

#include "base/compress.h"
#include "base/output.h"
#include "cli/message.h"
#include "cli/screen.h"

#include <string.h>

enum tw_form tw_form_of(const struct tw_common *common, const struct tw_forms *forms)
{
	const char *path = common->output ? common->output : "-";
	if (common->json)
		return TW_FORM_JSON;
	if (forms->csv || (!forms->svg && tw_name_ends_with(path, ".csv")))
		return TW_FORM_CSV;
	return forms->svg || tw_name_ends_with(path, ".svg") ? TW_FORM_SVG : TW_FORM_TEXT;
}

int tw_check_forms(const struct tw_command *command, const struct tw_common *common, const struct tw_forms *forms)
{
	if (common->json + forms->csv + forms->svg > 1)
		return tw_say_usage(command, "only one of --json%s and --svg", forms->csv ? ", --csv" : "");
	if (tw_form_of(common, forms) == TW_FORM_SVG && tw_goes_to_terminal(common->output))
		return tw_say_usage(command, "a picture does not go to a terminal: -o FILE.svg");
	return 0;
}

void tw_put_csv_text(struct tw_output *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		tw_put_text(out, text);
		return;
	}
	tw_put_char(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			tw_put_char(out, '"');
		tw_put_char(out, *text);
	}
	tw_put_char(out, '"');
}
