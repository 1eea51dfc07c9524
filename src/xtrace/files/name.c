/* name.c - the names of xtrace's files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <trackway/xtrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Takes a text off the front. */
static bool take(const char **text, const char *word)
{
	size_t length = strlen(word);
	if (strncmp(*text, word, length) != 0)
		return false;
	*text += length;
	return true;
}

/* Takes all that is before a dot; it must be there, and fit. */
static bool take_timestamp(const char **text, char timestamp[TW_XTRACE_TIMESTAMP_SIZE])
{
	size_t length = strcspn(*text, "./");
	if (length == 0 || length >= TW_XTRACE_TIMESTAMP_SIZE || (*text)[length] != '.')
		return false;
	memcpy(timestamp, *text, length);
	*text += length;
	return true;
}

/* Takes a decimal number that fits in 64 bits. */
static bool take_number(const char **text, uint64_t *number)
{
	const char *start = *text;
	for (*number = 0; **text >= '0' && **text <= '9'; ++*text) {
		unsigned digit = (unsigned)(**text - '0');
		if (*number > (UINT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return *text > start;
}

int tw_xtrace_name_parse(const char *text, struct tw_xtrace_name *name)
{
	uint64_t hint;
	*name = (struct tw_xtrace_name){0};
	if (!take(&text, "xtrace.") || !take_timestamp(&text, name->timestamp) || !take(&text, ".") ||
	    !take_number(&text, &name->number) || !take(&text, ".hint") || !take_number(&text, &hint) ||
	    (hint != 9 && hint != 13))
		return TW_ERR_FORMAT;
	name->hint = (unsigned)hint;
	name->snapshots = strcmp(text, ".xsnapshot.bin") == 0;
	return name->snapshots || strcmp(text, ".xinsndata.bin") == 0 ? 0 : TW_ERR_FORMAT;
}

void tw_xtrace_name_format(const struct tw_xtrace_name *name, char text[TW_XTRACE_NAME_SIZE])
{
	snprintf(text, TW_XTRACE_NAME_SIZE, "xtrace.%s.%" PRIu64 ".hint%u.%s.bin", name->timestamp, name->number,
	         name->hint, name->snapshots ? "xsnapshot" : "xinsndata");
}
