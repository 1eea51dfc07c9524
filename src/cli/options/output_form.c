/* output_form.c - in which form a listing is written: text, JSON, CSV or a picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/output_form.h"

#include "base/bytes/compress.h"
#include "base/bytes/output.h"
#include "base/text/csv.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"

#include <string.h>

enum tw_form tw_form_of(const struct tw_common *common, const struct tw_form_options *forms)
{
	const char *path = common->output ? common->output : "-";
	if (common->json)
		return TW_FORM_JSON;
	if (forms->csv || forms->csv_safe || (!forms->svg && tw_name_ends_with(path, ".csv")))
		return TW_FORM_CSV;
	return forms->svg || tw_name_ends_with(path, ".svg") ? TW_FORM_SVG : TW_FORM_TEXT;
}

int tw_check_form(const struct tw_command *command, const struct tw_common *common, const struct tw_form_options *forms)
{
	bool csv = forms->csv || forms->csv_safe;
	if (common->json + csv + forms->svg > 1)
		return tw_say_usage(command, "only one of --json%s and --svg", csv ? ", --csv" : "");
	if (tw_form_of(common, forms) == TW_FORM_SVG && tw_goes_to_terminal(common->output))
		return tw_say_usage(command, "a picture does not go to a terminal: -o FILE.svg");
	return 0;
}

void tw_put_csv(struct tw_output *out, const char *bytes, size_t size, bool safe)
{
	bool formula = safe && tw_csv_is_formula(bytes, size), quotes = false;
	struct tw_csv_piece piece;
	for (size_t i = 0; i < size && !quotes; i++)
		quotes = memchr(",\"\r\n", bytes[i], 4);
	tw_put_text(out, quotes ? "\"" : "");
	tw_put_text(out, formula ? "'" : "");
	for (size_t i = 0; i < size; i += piece.taken) {
		tw_csv_next(&piece, bytes + i, size - i);
		tw_put(out, piece.bytes, piece.length);
	}
	tw_put_text(out, quotes ? "\"" : "");
}
