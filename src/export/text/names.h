/* names.h - names as a target writes them, rendered once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_TEXT_NAMES_H
#define EXPORT_TEXT_NAMES_H

#include "core/dictionary.h"
#include "export/text/line.h"

enum {
	TW_NAMES_BYTES = 64 << 20, /* bytes that are kept; names beyond are rendered each time */
	TW_NAMES_SHARE = 8,        /* and no more than this share of the memory limit */
	TW_NAMES_BEHIND = 32       /* so many bytes behind each name may be read: copies go in steps of this size */
};

/* A name as it is written: two in a line of the cache. */
struct tw_rendered {
	const char *of; /* the text that it was made of, to see when the name has another; NULL: it is not kept */
	uint64_t hash;  /* of all bytes */
	uint32_t at;
	uint32_t size;
	uint32_t part; /* bytes at the front that the target uses apart from the rest */
	bool cut;      /* the name was too long to be written whole */
};

/* Adds a name to a line, and tells `part` and `cut`. */
typedef void tw_render_fn(struct tw_line *line, const struct tw_name *name, struct tw_rendered *piece);

struct tw_names {
	tw_render_fn *render;
	struct tw_rendered *pieces; /* by number of the dictionary */
	size_t room, kept;          /* kept: bytes of text that stay */
	size_t limit;               /* of bytes kept */
	struct tw_rendered passing; /* the last one that was not kept, for want of room */
	struct tw_line text;
	uint64_t cut; /* how many were cut when they were rendered */
	bool settled; /* no name has got another text since: kept pieces are right */
};

/* All zero before. */
void tw_names_init(struct tw_names *names, tw_render_fn *render);

/* Lets no more be kept than a share of a memory limit. */
void tw_names_bound(struct tw_names *names, size_t memory_limit);

/* Before each batch: tells whether a name has got another text since. */
static inline void tw_names_meet(struct tw_names *names, const struct tw_dictionary *dictionary)
{
	names->settled = !tw_dictionary_has_renamed(dictionary);
}

/* Renders a name that is not there; tw_names_find() is what to call. */
const struct tw_rendered *tw_names_render(struct tw_names *names, const struct tw_name *name, uint32_t number);

/* Whether the piece of a name, which has that number, is kept. */
static inline bool tw_names_has(const struct tw_names *names, const struct tw_name *name, uint32_t number)
{
	if (number >= names->room)
		return false;
	const char *of = names->pieces[number].of;
	return of && (names->settled || of == name->text);
}

/* The piece of a name if it is kept, otherwise NULL. */
static inline const struct tw_rendered *tw_names_kept(const struct tw_names *names,
                                                      const struct tw_dictionary *dictionary, uint32_t number)
{
	const struct tw_name *name = names->settled ? NULL : tw_dictionary_name(dictionary, number);
	return tw_names_has(names, name, number) ? &names->pieces[number] : NULL;
}

/* The piece of a name. It lives until the next call, where it is kept as long as the names do; without memory it is
 * empty, and names->text has failed. */
static inline const struct tw_rendered *tw_names_find(struct tw_names *names, const struct tw_dictionary *dictionary,
                                                      uint32_t number)
{
	const struct tw_rendered *kept = tw_names_kept(names, dictionary, number);
	return kept ? kept : tw_names_render(names, tw_dictionary_name(dictionary, number), number);
}

static inline const char *tw_names_bytes(const struct tw_names *names, const struct tw_rendered *piece)
{
	return names->text.text.bytes + piece->at;
}

/* Copies a piece, in steps: there is room for TW_NAMES_BEHIND bytes more. Returns the end of it. */
static inline char *tw_names_copy(char *to, const struct tw_names *names, const struct tw_rendered *piece)
{
	const char *from = tw_names_bytes(names, piece);
	for (size_t i = 0; i < piece->size; i += TW_NAMES_BEHIND)
		memcpy(to + i, from + i, TW_NAMES_BEHIND);
	return to + piece->size;
}

void tw_names_free(struct tw_names *names);

/* ---- What to render. ---- */

/* How much of a text of that length is written; tells the piece when that is not all. */
size_t tw_name_cut(size_t length, struct tw_rendered *piece);

/* A label (labels.h) as a JSON string. */
void tw_names_json(struct tw_line *line, const struct tw_name *name, struct tw_rendered *piece);

#endif
