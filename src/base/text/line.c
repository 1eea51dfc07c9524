/* line.c - lines of small text files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/line.h"

#include <string.h>

int tw_read_line(FILE *file, char *line, size_t size)
{
	if (!fgets(line, (int)size, file))
		return 0;
	size_t length = strlen(line);
	return (length && line[length - 1] == '\n') || (feof(file) && length) ? 1 : -1;
}
