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

/* A part of a class's name: the bytes from `at` to `end`. */
struct name_part {
	size_t at, end;
};

/* C#: "<Run>d__3" of Run. */
static bool of_csharp(const uint8_t *bytes, size_t size, struct name_part *part)
{
	if (bytes[part->at] != '<')
		return false;
	const size_t behind = behind_bracket(bytes, size, part->at);
	if (behind <= part->at + 2 || !is_state_machine(bytes + behind, size - behind))
		return false;
	*part = (struct name_part){part->at + 1, behind - 1};
	return true;
}

static size_t behind_digits(const uint8_t *bytes, size_t size, size_t at)
{
	while (at < size && bytes[at] >= '0' && bytes[at] <= '9')
		at++;
	return at;
}

/* Where type arguments begin, or the end. */
static size_t arguments_at(const uint8_t *bytes, size_t size, size_t at)
{
	const uint8_t *found = memchr(bytes + at, '<', size - at);
	return found ? (size_t)(found - bytes) : size;
}

/* Visual Basic: "VB$StateMachine_3_Run" of Run. */
static bool of_basic(const uint8_t *bytes, size_t size, struct name_part *part)
{
	static const char prefix[] = "VB$StateMachine_";
	const size_t length = sizeof prefix - 1;
	if (size - part->at <= length || memcmp(bytes + part->at, prefix, length) != 0)
		return false;
	const size_t digits = part->at + length, behind = behind_digits(bytes, size, digits);
	if (behind == digits || behind == size || bytes[behind] != '_')
		return false;
	*part = (struct name_part){behind + 1, arguments_at(bytes, size, behind)};
	return part->at < part->end;
}

/* F#: "run@20" or "run@20-1" of run. */
static bool of_fsharp(const uint8_t *bytes, size_t size, struct name_part *part)
{
	const size_t end = arguments_at(bytes, size, part->at);
	const uint8_t *sign = memchr(bytes + part->at, '@', end - part->at);
	if (!sign)
		return false;
	const size_t name = (size_t)(sign - bytes), line = behind_digits(bytes, end, name + 1);
	const bool again = line < end && bytes[line] == '-';
	const size_t behind = again ? behind_digits(bytes, end, line + 1) : line;
	if (name == part->at || line == name + 1 || behind != end || (again && behind == line + 1))
		return false;
	part->end = name;
	return true;
}

bool tracelog_fold_async(struct tw_tracelog_text name, struct tw_text *text)
{
	const size_t length = sizeof suffix - 1;
	if (name.size <= length || memcmp(name.bytes + name.size - length, suffix, length) != 0)
		return false;
	const size_t size = name.size - length, at = last_part(name.bytes, size);
	struct name_part part = {at, size};
	if (at == size || !(of_csharp(name.bytes, size, &part) || of_basic(name.bytes, size, &part) ||
	                    of_fsharp(name.bytes, size, &part)))
		return false;
	return (at == 0 || (tw_text_add(text, (const char *)name.bytes, at - 1) && tw_text_add(text, "::", 2))) &&
	       tw_text_add(text, (const char *)name.bytes + part.at, part.end - part.at);
}
