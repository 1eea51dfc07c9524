/* rules.c - the rules of all formats, for check --rules and its manual page. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/rules.h"

#include "base/text/json.h"
#include "cli/command.h"
#include "cli/manual/man.h"

#include <trackway/reader.h>

#include <string.h>

static void put_rule(struct tw_output *out, const struct tw_rule *rule, bool json)
{
	struct tw_json line = {.out = out};
	if (!json) {
		tw_putf(out, "%-32s%-9s%s\n", rule->name, tw_severity_name(rule->severity), rule->text);
		return;
	}
	tw_json_object(&line, NULL);
	tw_json_text(&line, "rule", rule->name);
	tw_json_text(&line, "severity", tw_severity_name(rule->severity));
	tw_json_text(&line, "text", rule->text);
	tw_json_object_end(&line);
	tw_json_line_end(&line);
}

/* Rules that several formats share are listed under the first. */
static bool listed_before(size_t format, const struct tw_rule *rule)
{
	for (size_t i = 0; i < format; i++) {
		const struct tw_rule *other;
		for (size_t k = 0; (other = tw_format_rule(tw_format_name(i), k)); k++)
			if (strcmp(other->name, rule->name) == 0)
				return true;
	}
	return false;
}

int tw_put_rules(struct tw_screen *screen, const struct tw_common *common)
{
	const struct tw_rule *rule;
	if (tw_screen_open_form(screen, common))
		return TW_EXIT_FAILED;
	for (size_t i = 0; tw_format_name(i); i++) {
		if (common->from && strcmp(common->from, tw_format_name(i)) != 0)
			continue;
		for (size_t k = 0; (rule = tw_format_rule(tw_format_name(i), k)); k++)
			if (common->from || !listed_before(i, rule))
				put_rule(&screen->out, rule, common->forms.json);
	}
	return 0;
}

void tw_put_rules_manual(struct tw_output *out)
{
	const struct tw_rule *rule;
	tw_put_text(out, ".SH RULES\n");
	for (size_t i = 0; tw_format_name(i); i++)
		for (size_t k = 0; (rule = tw_format_rule(tw_format_name(i), k)); k++) {
			if (listed_before(i, rule))
				continue;
			tw_put_text(out, ".TP\n\\fB");
			tw_put_roff(out, rule->name);
			tw_putf(out, "\\fR (%s)\n", tw_severity_name(rule->severity));
			tw_put_roff(out, rule->text);
			tw_put_char(out, '\n');
		}
}
