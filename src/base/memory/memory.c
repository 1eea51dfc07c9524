/* memory.c - growing arrays. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool tw_resize(void *array, size_t *room, size_t count, size_t size)
{
	if (count > PTRDIFF_MAX / size)
		return false;
	void *old;
	memcpy(&old, array, sizeof old);
	char *fresh = realloc(old, count * size);
	if (!fresh)
		return false;
	memcpy(array, &fresh, sizeof fresh);
	*room = count;
	return true;
}

bool tw_extend(void *array, size_t *room, size_t need, size_t size)
{
	if (need <= *room)
		return true;
	size_t more = *room < 8 ? 8 : *room;
	more = more > PTRDIFF_MAX / 2 ? PTRDIFF_MAX : more * 2;
	return tw_resize(array, room, more < need ? need : more, size);
}

void tw_clear(void *array, size_t from, size_t to, size_t size)
{
	char *bytes;
	if (from == to)
		return;
	memcpy(&bytes, array, sizeof bytes);
	memset(bytes + from * size, 0, (to - from) * size);
}

bool tw_grow(void *array, size_t *room, size_t need, size_t size)
{
	const size_t before = *room;
	if (!tw_extend(array, room, need, size))
		return false;
	tw_clear(array, before, *room, size);
	return true;
}

void *tw_zeroed(size_t count, size_t size)
{
	enum { PAGE = 4096 };
	volatile char *bytes = calloc(count, size);
	for (size_t i = 0; bytes && i < count * size; i += PAGE)
		bytes[i] = 0;
	return (void *)bytes;
}

bool tw_text_add(struct tw_text *text, const char *bytes, size_t length)
{
	if (!tw_grow(&text->bytes, &text->room, text->length + length + 1, 1))
		return false;
	if (length)
		memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
	return true;
}

void tw_text_free(struct tw_text *text)
{
	free(text->bytes);
	*text = (struct tw_text){0};
}
