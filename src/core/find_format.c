/* find_format.c - the formats by name, and the format of a trace by its first bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter/filter.h"
#include "core/format.h"

#include <trackway/reader.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct tw_format *format_named(const char *name)
{
	for (size_t i = 0; tw_formats[i]; i++)
		if (strcmp(tw_formats[i]->name, name) == 0)
			return tw_formats[i];
	return NULL;
}

/* The format that is surest, of those whose bits are set; NULL where none is. *more: bits of those that more bytes
 * would tell. */
static const struct tw_format *probe(const uint8_t *bytes, size_t size, uint64_t asked, uint64_t *more)
{
	const struct tw_format *best = NULL;
	int most = 0;
	*more = 0;
	for (size_t i = 0; tw_formats[i]; i++) {
		int sure = asked >> i & 1 ? tw_formats[i]->files.probe(bytes, size) : 0;
		if (sure == TW_PROBE_MORE)
			*more |= UINT64_C(1) << i;
		if (sure > most) {
			most = sure;
			best = tw_formats[i];
		}
	}
	return best;
}

/* Asks the formats that want to see more. */
static const struct tw_format *probe_again(struct tw_reader *reader, uint64_t asked)
{
	const uint8_t *bytes;
	size_t size;
	uint64_t more;
	if (!asked || tw_window_view(&reader->window, 0, TW_PROBE_MOST, &bytes, &size) < 0)
		return NULL;
	return probe(bytes, size < TW_PROBE_MOST ? size : TW_PROBE_MOST, asked, &more);
}

static size_t pass_blanks(const uint8_t *bytes, size_t at, size_t size)
{
	while (at < size && isspace(bytes[at]))
		at++;
	return at;
}

/* Where text begins: behind a byte order mark and blanks. */
static size_t first_word(const uint8_t *bytes, size_t size)
{
	static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
	return pass_blanks(bytes, size >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0 ? sizeof mark : 0, size);
}

/* Whether text begins as an object of JSON, or an array of them, however many blanks there are. */
static bool is_json(const uint8_t *bytes, size_t size)
{
	size_t at = first_word(bytes, size);
	bool array = at < size && bytes[at] == '[';
	if (array)
		at = pass_blanks(bytes, at + 1, size);
	return at < size ? bytes[at] == '{' : array;
}

/* What bytes look like that are no trace, for the message. */
static const char *looks_like(const uint8_t *bytes, size_t size)
{
	static const struct {
		const char *magic;
		const char *text;
	} known[] = {
	    {"\x7f"
	     "ELF",
	     "an ELF file (a program, library or core dump)"},
	    {"\xff\xfe", "UTF-16 text"},
	    {"\xfe\xff", "UTF-16 text"},
	    {"%PDF", "a PDF document"},
	    {"PK\x03\x04", "a zip archive"},
	    {"BZh", "bzip2 data"},
	    {"\xfd"
	     "7zXZ",
	     "xz data"},
	    {"PERFILE2", "perf data"},
	    {"xrayprof", "an XRay profile (mode xray-profiling)"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (size >= strlen(known[i].magic) && memcmp(bytes, known[i].magic, strlen(known[i].magic)) == 0)
			return known[i].text;
	if (first_word(bytes, size) == size)
		return "white space";
	if (is_json(bytes, size))
		return "JSON text";
	for (size_t i = 0; i < size; i++)
		if (!isprint(bytes[i]) && !isspace(bytes[i]))
			return NULL;
	return "text";
}

/* Whether the first line, or the second, ends in a number. */
static bool ends_in_number(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = memchr(bytes, '\n', size), *next = end ? end + 1 : bytes + size;
	const uint8_t *second = memchr(next, '\n', size - (size_t)(next - bytes));
	return (end && end > bytes && isdigit(end[-1])) || (second && isdigit(second[-1])) ||
	       (!end && size && size < TW_PROBE_SIZE && isdigit(bytes[size - 1]));
}

/* What a user may know better than the bytes tell. */
static const char *hint(const char *what, const uint8_t *bytes, size_t size)
{
	if (what && strcmp(what, "JSON text") == 0 && memmem(bytes, size, "\"callUID\"", strlen("\"callUID\"")))
		return "; profiles whose calls are a tree (\"head\"), as Chrome wrote them until 2016, are not read";
	if (what && strcmp(what, "JSON text") == 0)
		return "; --from chrome reads it where events come later";
	if (what && strcmp(what, "white space") == 0 && size == TW_PROBE_SIZE)
		return "; --from chrome reads JSON that comes later";
	if (what && strcmp(what, "text") == 0 && ends_in_number(bytes, size))
		return "; --from folded reads lines of stacks that end in numbers";
	return "";
}

static int unknown_format(struct tw_reader *reader, const uint8_t *bytes, size_t size)
{
	char names[128] = "", found[64];
	size_t used = 0;
	for (size_t i = 0; tw_formats[i] && used < sizeof names; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", tw_formats[i]->name);
	const char *what = looks_like(bytes, size);
	int n = 0;
	for (size_t i = 0; i < size && i < 8; i++)
		n += snprintf(found + n, sizeof found - (size_t)n, " %02x", bytes[i]);
	return tw_fail(reader, TW_ERR_FORMAT, "%s: offset 0x0: expected the header of a trace (%s), found %s%s%s%s%s",
	               tw_input_name(reader->input), names, what ? what : "the bytes", what ? "" : found,
	               !what && size > 8 ? " ..." : "", !what && size < 8 ? " and the end of the file" : "",
	               hint(what, bytes, size));
}

int tw_find_format(struct tw_reader *reader)
{
	const uint8_t *bytes;
	size_t size;
	size_t want = reader->options.format ? 1 : TW_PROBE_SIZE; /* a pipe may have no more for a long time */
	int status = tw_window_view(&reader->window, 0, want, &bytes, &size);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	if (size == 0 && *tw_input_error(reader->input))
		return tw_fail(reader, TW_ERR_COMPRESSED, "%s", tw_input_error(reader->input));
	if (size == 0)
		return tw_fail(reader, TW_ERR_EMPTY, "%s: the file is empty", tw_input_name(reader->input));
	size = size < TW_PROBE_SIZE ? size : TW_PROBE_SIZE;
	if (reader->options.format) {
		reader->format = format_named(reader->options.format);
		return reader->format
		           ? 0
		           : tw_fail(reader, TW_ERR_FORMAT, "%s: no format of this name", reader->options.format);
	}
	uint64_t more;
	reader->format = probe(bytes, size, UINT64_MAX, &more);
	if (!reader->format)
		reader->format = probe_again(reader, more);
	if (reader->format)
		return 0;
	status = tw_window_view(&reader->window, 0, TW_PROBE_SIZE, &bytes, &size);
	return status < 0 ? tw_fail(reader, status, "%s", tw_input_error(reader->input))
	                  : unknown_format(reader, bytes, size < TW_PROBE_SIZE ? size : TW_PROBE_SIZE);
}

/* ---- The formats. ---- */

const char *tw_format_name(size_t i)
{
	for (size_t k = 0; tw_formats[k]; k++)
		if (k == i)
			return tw_formats[k]->name;
	return NULL;
}

const char *tw_format_title(const char *name)
{
	const struct tw_format *format = format_named(name);
	return format ? format->title : NULL;
}

const struct tw_rule *tw_format_rule(const char *name, size_t i)
{
	const struct tw_format *format = format_named(name);
	if (!format)
		return NULL;
	return i < format->rule_count ? &format->rules[i] : tw_filter_rule(i - format->rule_count);
}
