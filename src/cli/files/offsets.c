/* offsets.c - by how much later each of several files begins: --offset FILE=TIME. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/offsets.h"

#include "cli/options/parse.h"
#include "cli/output/message.h"

#include <string.h>

static int bad_offset(const struct tw_command *command, const char *text, const char *wrong)
{
	return tw_say_usage(command, "--offset: \"%s\" %s", text, wrong);
}

/* FILE=TIME, where the file is one of the operands. */
static int take_offset(const struct tw_command *command, struct tw_merge_source *sources, size_t count,
                       const char *text)
{
	const char *equals = strrchr(text, '=');
	bool negative = equals && equals[1] == '-';
	uint64_t ns;
	if (!equals)
		return bad_offset(command, text, "is not FILE=TIME");
	const char *wrong = tw_parse_duration(equals + 1 + negative, &ns);
	if (wrong || ns > INT64_MAX)
		return bad_offset(command, text, wrong ? wrong : "is too large");
	size_t length = (size_t)(equals - text), i = 0;
	while (i < count && (strlen(sources[i].path) != length || memcmp(sources[i].path, text, length) != 0))
		i++;
	if (i == count)
		return bad_offset(command, text, "names none of the files");
	sources[i].offset_ns = negative ? -(int64_t)ns : (int64_t)ns;
	return 0;
}

/* Whether an offset before this one is of the same file, which would be replaced unsaid. */
static bool is_repeated(const struct tw_list *offsets, size_t this)
{
	const char *text = offsets->items[this], *equals = strrchr(text, '=');
	for (size_t i = 0; equals && i < this; i++) {
		const char *other = strrchr(offsets->items[i], '=');
		if (other - offsets->items[i] == equals - text &&
		    strncmp(offsets->items[i], text, (size_t)(equals - text)) == 0)
			return true;
	}
	return false;
}

int tw_take_offsets(const struct tw_command *command, struct tw_merge_source *sources, size_t count,
                    const struct tw_list *offsets)
{
	for (size_t i = 0; i < offsets->count; i++) {
		if (is_repeated(offsets, i))
			return bad_offset(command, offsets->items[i], "is the second one of this file");
		int status = take_offset(command, sources, count, offsets->items[i]);
		if (status)
			return status;
	}
	return 0;
}
