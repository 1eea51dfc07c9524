/* fold_async.c - an async method's MoveNext by the name of its method. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/fold_async.h"

#include <string.h>

static const char suffix[] = "::MoveNext";

/* The place behind the bracket that closes the one at `from`; 0 where none does. */
static size_t behind_bracket(const uint8_t *bytes, size_t size, size_t from)
{
	size_t depth = 0;
	for (size_t i = from; i < size; i++) {
		depth += bytes[i] == '<';
		if (bytes[i] == '>' && --depth == 0)
			return i + 1;
	}
	return 0;
}

/* Where the last part of a class's name begins: behind the last point that is in no brackets. */
static size_t last_part(const uint8_t *bytes, size_t size)
{
	size_t depth = 0, part = 0;
	for (size_t i = 0; i < size; i++) {
		depth += bytes[i] == '<';
		depth -= bytes[i] == '>' && depth;
		if (depth == 0 && (bytes[i] == '.' || bytes[i] == '+' || bytes[i] == '/'))
			part = i + 1;
	}
	return part;
}

/* "d", "d__3", maybe with type arguments behind. */
static bool is_state_machine(const uint8_t *bytes, size_t size)
{
	size_t at = 1;
	if (size == 0 || bytes[0] != 'd')
		return false;
	while (at < size && (bytes[at] == '_' || (bytes[at] >= '0' && bytes[at] <= '9')))
		at++;
	return at == size || bytes[at] == '<';
}

bool tracelog_fold_async(struct tw_tracelog_text name, struct tw_text *text)
{
	const size_t length = sizeof suffix - 1;
	if (name.size <= length || memcmp(name.bytes + name.size - length, suffix, length) != 0)
		return false;
	const size_t size = name.size - length, part = last_part(name.bytes, size);
	if (part == size || name.bytes[part] != '<')
		return false;
	const size_t behind = behind_bracket(name.bytes, size, part);
	if (behind <= part + 2 || !is_state_machine(name.bytes + behind, size - behind))
		return false;
	return (part == 0 || (tw_text_add(text, (const char *)name.bytes, part - 1) && tw_text_add(text, "::", 2))) &&
	       tw_text_add(text, (const char *)name.bytes + part + 1, behind - part - 2);
}
