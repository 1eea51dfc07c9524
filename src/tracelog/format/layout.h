/* layout.h - which fields a line of a kind has, in order: one table for decoding, encoding and listing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_FORMAT_LAYOUT_H
#define TRACELOG_FORMAT_LAYOUT_H

#include <trackway/tracelog.h>

/* How a field is written, and the type of its member. Of those without a type the members are fixed. */
enum tracelog_form {
	TRACELOG_END,       /* no more fields */
	TRACELOG_POINTER,   /* u64: 0x and 8 or 16 digits */
	TRACELOG_ID,        /* u32: 0x and 8 digits: token, HRESULT, numbers of lines and files */
	TRACELOG_IID,       /* the same, or "?" */
	TRACELOG_CLASS_IID, /* the same, which d0 does not have */
	TRACELOG_SHORT_IID, /* u32: 0x and as many digits as needed, or "?" */
	TRACELOG_HEX,       /* u64: the same */
	TRACELOG_IL,        /* i64: the same; the last three of 32 bits are special */
	TRACELOG_DECIMAL32, /* u32 */
	TRACELOG_DECIMAL64, /* u64 */
	TRACELOG_MS,        /* u32, written signed */
	TRACELOG_US,        /* u64 */
	TRACELOG_COUNT,     /* u64 or "?" */
	TRACELOG_IP,        /* an address or "?"; may be missing */
	TRACELOG_THREAD,    /* iid, number of the system's, or "?" */
	TRACELOG_REASON,    /* a word, or "?" */
	TRACELOG_FLAGS,     /* t or f for each generation */
	TRACELOG_DATE,      /* day, time and perhaps zone */
	TRACELOG_WORD,      /* text without blanks or colons */
	TRACELOG_REST,      /* text up to the end of the line */
	TRACELOG_QUOTED,    /* text in quotes up to the end of the line */
	TRACELOG_NAMES,     /* the texts in quotes of fun nam: one or three */
	TRACELOG_LIST,      /* items up to the end of the line */
	TRACELOG_FORMS
};

struct tracelog_field {
	const char *name; /* in listings */
	enum tracelog_form form;
	bool colon;    /* a colon stands before it, not a space */
	size_t offset; /* of the member in the record or item */
};

enum { TRACELOG_FIELDS_MAX = 8 };

/* Fields of a kind; the first of form TRACELOG_END ends them. */
struct tracelog_layout {
	struct tracelog_field fields[TRACELOG_FIELDS_MAX];
};

/* By enum tw_tracelog_kind, enum tw_tracelog_item_kind. */
extern const struct tracelog_layout tracelog_layouts[TW_TRACELOG_KINDS];
extern const struct tracelog_layout tracelog_items[TW_TRACELOG_HEAP + 1];

/* The two words that a kind begins with. */
extern const char *const tracelog_words[TW_TRACELOG_KINDS];

enum {
	TRACELOG_WORDS = 7,      /* bytes of the two words that a line begins with */
	TRACELOG_POINTER_32 = 8, /* digits */
	TRACELOG_POINTER_64 = 16,
	TRACELOG_ID_DIGITS = 8,
	TRACELOG_GENERATIONS = 8
};

/* Of a hexadecimal digit: its value, and which kind of digit it is; 0: it is none. */
enum { TRACELOG_NIBBLE = 15, TRACELOG_FIGURE = 16, TRACELOG_UPPER = 32, TRACELOG_LOWER = 64 };

extern const uint8_t tracelog_hex[256];

/* tw_tracelog_dialects() of a sample, an allocation or a usage by the first known instruction pointer in it. */
unsigned tracelog_dialects_by(enum tw_tracelog_kind kind, bool ip_known, unsigned ip_style);

enum { TRACELOG_DIALECTS_TEXT = 40 };

/* Writes the names of dialects, "d2 or d3", into a text of that size; returns it. What vs has more than d3 would
 * have been seen: it is not named beside it. */
const char *tracelog_dialects_text(unsigned dialects, char *text);

/* Writes the date of a prf stm, without its zone, and the zone where it has one: "2018-05-17 12:03:43.123", "+03:00".
 * Returns the text. */
enum { TRACELOG_DATE_TEXT = 48, TRACELOG_ZONE_TEXT = 16 };
const char *tracelog_date_text(const struct tw_tracelog_record *record, char text[TRACELOG_DATE_TEXT]);
const char *tracelog_zone_text(const struct tw_tracelog_record *record, char text[TRACELOG_ZONE_TEXT]);

/* Writes an item of a list, with the space before it. Returns its size, TW_ERR_ROOM or TW_ERR_VALUE. */
int64_t tracelog_encode_item(const struct tw_tracelog_item *item, uint8_t *bytes, size_t room);

static inline bool tracelog_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t';
}

/* Finds the last place in "text" where one quoted text ends and another begins: a quote, blanks, a quote. `text` is
 * what is between the outer quotes. Returns false where there is none. */
bool tracelog_find_gap(struct tw_tracelog_text text, size_t *end, size_t *begin);

/* Whether what stands between outer quotes ends with a quote and blanks: then the last quote began another text, which
 * was cut off. */
bool tracelog_is_cut(struct tw_tracelog_text text);

/* Whether a line may be a record of a kind to come: "abc def", and then a space or the end. */
bool tracelog_looks_like_kind(struct tw_tracelog_text text);

#endif
