/* text.c - bytes of a trace as text that a page can take. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/text.h"

#include "base/text/utf8.h"

bool view_add_utf8(struct tw_text *text, const char *bytes, size_t size)
{
	static const char unknown[] = "\xef\xbf\xbd";
	size_t plain = 0, at = 0;
	while (at < size) {
		size_t length = tw_utf8_length(bytes + at, size - at);
		at += length;
		if (length)
			continue;
		if (!tw_text_add(text, bytes + plain, at - plain) || !tw_text_add(text, unknown, sizeof unknown - 1))
			return false;
		plain = ++at;
	}
	return plain == size || tw_text_add(text, bytes + plain, size - plain);
}
