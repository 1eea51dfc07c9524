/* fuzz_demangle.c - any text as a symbol: its name is whole, within what is allowed, and the same each time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/text/demangle.h"

#include <stdlib.h>
#include <string.h>

FUZZ_TARGET(demangle, const uint8_t *bytes, size_t size)
{
	enum { ALLOWED = 1 << 20 };
	char symbol[8192];
	size_t length = size < sizeof symbol ? size : sizeof symbol - 1, left = ALLOWED, again = ALLOWED;
	memcpy(symbol, bytes, length);
	symbol[length] = '\0';
	char *name = tw_demangle(symbol, &left);
	char *second = tw_demangle(symbol, &again);
	fuzz_require(left <= ALLOWED, "the budget never grows");
	fuzz_require(!name || *name, "a name has letters");
	fuzz_require(!name == !second && left == again, "a symbol has one name");
	fuzz_require(!name || (second && strcmp(name, second) == 0), "it has the same letters each time");
	fuzz_require(!name || left == 0 || strlen(name) == ALLOWED - left, "a name is paid for");
	free(name);
	free(second);
	return 0;
}
