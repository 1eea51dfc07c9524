/* request.h - what a browser asks: an address and some headers, taken apart. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_REQUEST_H
#define VIEW_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VIEW_PARAMETERS = 16, VIEW_ADDRESS_MOST = 64 << 10 };

struct view_question;

struct view_parameter {
	const char *name, *value; /* decoded; neither has a zero byte */
};

/* Headers that are not there are NULL. */
struct view_request {
	const char *method;
	const char *address; /* as it came: "/api/window?from=0&to=1" */
	const char *host, *origin, *cookie, *fetch_site;
	int socket;        /* of who asks; 0: not known */
	const char *fault; /* why nobody is answered, whatever the rest says; NULL: nothing is */
	/* view_request_parse() writes these. */
	char *text; /* what the others point to; freed by view_request_free() */
	const char *path;
	struct view_parameter parameters[VIEW_PARAMETERS];
	size_t count;
	struct view_question *question; /* view_answer() writes it, where the trace is read again; otherwise NULL */
	/* view_starts_take() writes these: by file, ns by which it is later than in the index; NULL: none is. */
	int64_t *later;
	size_t later_count;
};

/* Takes the address apart. False where it is none: too long, too many parameters, one twice, or what is badly encoded.
 * Free it in any case. */
bool view_request_parse(struct view_request *request);
void view_request_free(struct view_request *request);

/* The value of a parameter; NULL: it is not there. */
const char *view_request_text(const struct view_request *request, const char *name);

/* The same as a number that is in decimal digits alone, and at most `most`. False where it is none, or not there. */
bool view_request_number(const struct view_request *request, const char *name, uint64_t most, uint64_t *value);

/* The same as a time, which may be before the start of the view: "-5". */
bool view_request_time(const struct view_request *request, const char *name, int64_t *time);

/* Takes the next number of a list with commas, "1,2,3": true and *list is behind it. False at the end: *list is NULL
 * where what is there is no number up to `most`. */
bool view_next_number(const char **list, uint64_t most, uint64_t *value);

/* Whether the headers are those of our own page: port and token are ours. */
bool view_request_is_ours(const struct view_request *request, unsigned port, const char *token);

/* The same of a request that has the token in its address, which a link elsewhere may have led to. */
bool view_request_may_enter(const struct view_request *request, const char *token);

#endif
