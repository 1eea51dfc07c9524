/* clean.h - bytes as text that any reader of UTF-8 takes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_TEXT_CLEAN_H
#define EXPORT_TEXT_CLEAN_H

#include "export/text/line.h"

/* Adds bytes to a line: a zero byte, and each byte that is not UTF-8, is U+FFFD. */
void tw_line_clean(struct tw_line *line, const char *bytes, size_t size);

#endif
