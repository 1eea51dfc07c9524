/* files.h - whole files, for the tests that look at them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FILES_H
#define TESTS_UNIT_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Reads what there is room for, and returns how much that is. */
static inline size_t read_file(const char *path, void *bytes, size_t room)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("%s cannot be opened", path);
	size_t size = fread(bytes, 1, room, file);
	fclose(file);
	return size;
}

/* Reads all, with a 0 behind it; the caller frees it. */
static inline char *read_text(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("%s cannot be opened", path);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	char *text = calloc(1, *size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, *size, file), *size);
	fclose(file);
	return text;
}

#endif
