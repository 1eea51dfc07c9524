/* csv.h - cells of CSV (RFC 4180, with the line ends of Unix). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_CSV_H
#define BASE_TEXT_CSV_H

#include "base/text/utf8.h"

/* A piece of the inside of a quoted cell. */
struct tw_csv_piece {
	const char *bytes; /* to be written: the text's own, or `escape` */
	size_t length;
	size_t taken; /* of the text that they stand for */
	char escape[TW_ESCAPE_ROOM];
};

/* Takes the next piece from the front of a text of at least one byte. A quote is two of them; what is not UTF-8 becomes
 * U+FFFD, one a byte, because readers of CSV refuse a file for a byte; what a terminal obeys is escaped, but for tabs
 * and line ends; a carriage return alone is none. */
void tw_csv_next(struct tw_csv_piece *piece, const char *bytes, size_t size);

/* Whether a spreadsheet would take a text for a formula. */
bool tw_csv_is_formula(const char *bytes, size_t size);

#endif
