/* nearest.c - the word of a list that is nearest to what was typed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/nearest.h"

#include <string.h>

enum { WORD_MAX = 40 };

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap two neighbours) from one word to the other. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1], length = strlen(b);
	for (size_t k = 0; k <= length; k++)
		rows[0][k] = k;
	size_t i = 1;
	for (; a[i - 1]; i++) {
		size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t k = 1; k <= length; k++) {
			row[k] = least_of(least_of(above[k], row[k - 1]) + 1, above[k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				row[k] = least_of(row[k], two_above[k - 2] + 1);
		}
	}
	return rows[(i - 1) % 3][length];
}

const char *tw_nearest(const char *typed, const char *(*word)(void *context, size_t i), void *context)
{
	const char *best = NULL, *candidate;
	size_t length = strlen(typed), most = length / 3 + 1;
	if (length > WORD_MAX || length == 0)
		return NULL;
	for (size_t i = 0; (candidate = word(context, i)); i++) {
		size_t edits = strlen(candidate) > WORD_MAX ? most + 1 : distance(typed, candidate);
		if (edits <= most && edits < strlen(candidate)) {
			best = candidate;
			most = edits - 1;
		}
		if (edits == 0)
			break;
	}
	return best;
}
