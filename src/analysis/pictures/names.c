/* names.c - names in the room that there is: made safe, and cut where they differ least. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/report.h"

#include "base/text/utf8.h"

#include <string.h>

/* A character as it may be shown. */
struct glyph {
	const char *bytes; /* NULL: `escape` */
	char escape[TW_ESCAPE_ROOM];
	size_t length;
	size_t taken; /* bytes of the name that it stands for */
	size_t columns;
};

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
static const char ellipsis[] = "\xe2\x80\xa6";

/* XML 1.0, "Char": neither U+FFFE nor U+FFFF. Nothing that we write needs them. */
static bool is_noncharacter(const char *bytes, size_t length)
{
	return length == 3 && memcmp(bytes, "\xef\xbf", 2) == 0 && (unsigned char)bytes[2] >= 0xbe;
}

static struct glyph take_glyph(const char *bytes, size_t size)
{
	unsigned char c = (unsigned char)*bytes;
	if (c < 0x20 || c == 0x7f)
		return (struct glyph){.bytes = " ", .length = 1, .taken = 1, .columns = 1};
	size_t length = tw_utf8_length(bytes, size);
	if (!length || is_noncharacter(bytes, length))
		return (struct glyph){.bytes = replacement, .length = 3, .taken = length ? length : 1, .columns = 2};
	struct glyph glyph = {.bytes = bytes, .length = length, .taken = length, .columns = length < 3 ? 1 : 2};
	if (length > 1 && tw_is_obeyed(tw_utf8_code(bytes, length))) {
		glyph.bytes = NULL;
		glyph.columns = glyph.length = tw_escape_character(glyph.escape, bytes, length);
	}
	return glyph;
}

static void put_character(struct tw_output *out, const char *bytes, size_t length, const struct tw_escape *escapes)
{
	for (const struct tw_escape *e = escapes; e->with; e++)
		if (length == 1 && *bytes == e->c) {
			tw_put_text(out, e->with);
			return;
		}
	tw_put(out, bytes, length);
}

static void put_glyph(struct tw_output *out, const struct glyph *glyph, const struct tw_escape *escapes)
{
	if (glyph->bytes)
		put_character(out, glyph->bytes, glyph->length, escapes);
	for (size_t i = 0; !glyph->bytes && i < glyph->length; i++)
		put_character(out, &glyph->escape[i], 1, escapes);
}

static const char *shown(const char *name)
{
	return *name ? name : "(no name)";
}

/* How wide a text is, counted no further than just beyond `most`. */
static size_t columns_of(const char *text, size_t size, size_t most)
{
	size_t columns = 0;
	for (size_t at = 0; at < size && columns <= most;) {
		const struct glyph glyph = take_glyph(text + at, size - at);
		columns += glyph.columns;
		at += glyph.taken;
	}
	return columns;
}

static void put_text(struct tw_output *out, const char *text, size_t size, const struct tw_escape *escapes)
{
	for (size_t at = 0; at < size;) {
		const struct glyph glyph = take_glyph(text + at, size - at);
		put_glyph(out, &glyph, escapes);
		at += glyph.taken;
	}
}

/* At most so many columns, not 0; the middle gives way. The left half keeps one more: scopes begin there. */
static void put_cut(struct tw_output *out, const char *text, size_t size, size_t columns,
                    const struct tw_escape *escapes)
{
	size_t left = columns / 2, all = columns_of(text, size, SIZE_MAX - 2), at = 0, used = 0;
	if (all <= columns) {
		put_text(out, text, size, escapes);
		return;
	}
	for (struct glyph glyph = take_glyph(text, size);; glyph = take_glyph(text + at, size - at)) {
		if (used + glyph.columns > left && (at || glyph.columns >= columns))
			break;
		put_glyph(out, &glyph, escapes);
		used += glyph.columns;
		at += glyph.taken;
	}
	tw_put_text(out, ellipsis);
	const size_t right = columns - 1 - used;
	while (all - used > right) {
		const struct glyph glyph = take_glyph(text + at, size - at);
		used += glyph.columns;
		at += glyph.taken;
	}
	put_text(out, text + at, size - at, escapes);
}

size_t tw_name_columns(const char *name, size_t most)
{
	name = shown(name);
	return columns_of(name, strlen(name), most);
}

void tw_put_name(struct tw_output *out, const char *name, size_t columns, const struct tw_escape *escapes)
{
	name = shown(name);
	put_cut(out, name, strlen(name), columns ? columns : SIZE_MAX, escapes);
}

/* ---- Functions: "draw" in "ns::shape<int>::draw(int) const", as the page of `trackway view` has it. ---- */

/* Where what is open at the end of a text begins; 0 if nothing is, or it is never opened. */
static size_t opened(const char *name, size_t end)
{
	size_t depth = 0;
	for (size_t at = end; at-- > 0;) {
		if (strchr(")>]}", name[at]) && !(at && name[at - 1] == '-' && name[at] == '>'))
			depth++;
		else if (strchr("(<[{", name[at]) && depth-- <= 1)
			return depth == 0 ? at : 0;
	}
	return 0;
}

/* Where a name ends without what qualifies a method. */
static size_t without_qualifiers(const char *name, size_t end)
{
	static const char *const qualifiers[] = {" const", " volatile", " noexcept", "&"};
	enum { COUNT = sizeof qualifiers / sizeof *qualifiers };
	for (size_t i = 0; i < COUNT;) {
		const size_t length = strlen(qualifiers[i]);
		const bool found = length <= end && memcmp(name + end - length, qualifiers[i], length) == 0;
		end -= found ? length : 0;
		i = found ? 0 : i + 1;
	}
	return end;
}

/* Behind the last "::" of a text; 0: it has none. */
static size_t behind_scope(const char *name, size_t end)
{
	for (size_t at = end; at-- > 1;)
		if (name[at - 1] == ':' && name[at] == ':')
			return at + 1;
	return 0;
}

/* Where the function's own name is; all of the name where it cannot be told. */
static size_t own_name(const char *name, size_t *end)
{
	const size_t size = strlen(name);
	*end = without_qualifiers(name, size);
	for (size_t at; *end > 1 && strchr(")>]}", name[*end - 1]) && (at = opened(name, *end)) != 0;)
		*end = at;
	size_t begin = behind_scope(name, *end);
	while (begin < *end && name[begin] == ' ')
		begin++;
	while (*end > begin && name[*end - 1] == ' ')
		--*end;
	const size_t length = *end - begin, plain = strcspn(name + begin, "()<>");
	if (length && plain >= length && strncmp(name + begin, "operator", strlen("operator")) != 0)
		return begin;
	*end = size;
	return 0;
}

static bool is_ascii(const char *text)
{
	while (*text && !((unsigned char)*text & 0x80))
		text++;
	return !*text;
}

void tw_put_function(struct tw_output *out, const char *name, size_t columns, const struct tw_escape *escapes)
{
	enum { PARAMETERS = 3 /* columns: (...) in one character */ };
	size_t end, size = strlen(shown(name));
	if (size <= columns || !*name || !is_ascii(name)) {
		tw_put_name(out, name, columns, escapes);
		return;
	}
	const size_t begin = own_name(name, &end), own = end - begin;
	if (columns < own + TW_NAME_LEAST) {
		put_cut(out, name + begin, own, columns, escapes);
		return;
	}
	const size_t parameters = without_qualifiers(name, size) - end, room = columns - own;
	const size_t least = room - (parameters < PARAMETERS ? parameters : PARAMETERS);
	const size_t scope = begin <= least ? begin : least < TW_NAME_LEAST ? 0 : least;
	if (scope)
		put_cut(out, name, begin, scope, escapes);
	put_text(out, name + begin, own, escapes);
	put_cut(out, name + end, parameters, room - scope, escapes);
}
