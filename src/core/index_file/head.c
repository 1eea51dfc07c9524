/* head.c - how a file begins that keeps the index of a trace, beside it: which kind of index, and of which trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/index_file/head.h"

#include <stdio.h>
#include <string.h>

char *tw_index_path(const struct tw_index_kind *kind, const char *trace)
{
	char *path;
	return asprintf(&path, "%s%s", trace, kind->suffix) < 0 ? NULL : path;
}

bool tw_index_trace(const char *path, const struct tw_stamp *stamp, struct tw_index_trace *trace)
{
	*trace = (struct tw_index_trace){
	    .size = stamp->size,
	    .seconds = stamp->seconds,
	    .nanoseconds = stamp->nanoseconds,
	};
	return tw_stamp_head(path, &trace->head);
}

bool tw_index_is_of(const struct tw_index_trace *a, const struct tw_index_trace *b)
{
	return a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds && a->head == b->head;
}

void tw_put_index_head(struct tw_output *out, const struct tw_index_kind *kind, const struct tw_index_trace *trace)
{
	tw_put(out, kind->magic, sizeof kind->magic);
	tw_put_word(out, kind->version);
	tw_put_word(out, trace->size);
	tw_put_word(out, trace->seconds);
	tw_put_word(out, trace->nanoseconds);
	tw_put_word(out, trace->head);
}

const char *tw_take_index_head(struct tw_words *words, const struct tw_index_kind *kind,
                               const struct tw_index_trace *trace)
{
	struct tw_index_trace found;
	if (words->left < sizeof kind->magic || memcmp(words->bytes, kind->magic, sizeof kind->magic) != 0)
		return "it is no index";
	words->bytes += sizeof kind->magic;
	words->left -= sizeof kind->magic;
	if (tw_take_word(words) != kind->version)
		return "it is of another version";
	found.size = tw_take_word(words);
	found.seconds = tw_take_word(words);
	found.nanoseconds = tw_take_word(words);
	found.head = tw_take_word(words);
	return tw_index_is_of(&found, trace) ? NULL : "it is of another file, or of what the file was before";
}

void tw_put_format(struct tw_output *out, const char *name)
{
	tw_put_padded(out, name, strlen(name));
}

const struct tw_format *tw_take_format(struct tw_words *words)
{
	size_t length;
	const char *name, *text = tw_take_padded(words, &length);
	for (size_t i = 0; (name = tw_format_name(i)); i++)
		if (strlen(name) == length && memcmp(name, text, length) == 0)
			return tw_formats[i];
	words->failed = true;
	return NULL;
}
