/* scan.c - numbers out of text that others wrote. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool tw_scan_number(const char **text, int base, uint64_t *value)
{
	char *end;
	if (!isxdigit((unsigned char)**text)) /* strtoull would take spaces and a sign */
		return false;
	errno = 0;
	unsigned long long number = strtoull(*text, &end, base);
	if (errno || end == *text)
		return false;
	*value = number;
	*text = end;
	return true;
}
