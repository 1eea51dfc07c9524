/* text.h - bytes of a trace as text that a page can take. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_TEXT_H
#define VIEW_SERVE_TEXT_H

#include "base/memory/memory.h"

/* Appends bytes; what is not UTF-8 becomes U+FFFD, one a byte. False without memory. */
bool view_add_utf8(struct tw_text *text, const char *bytes, size_t size);

#endif
