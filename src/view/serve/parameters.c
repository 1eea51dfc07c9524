/* parameters.c - the parameters of the addresses under /api: which there are, and what they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/parameters.h"

#include "view/serve/question.h"
#include "view/serve/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum kind { NUMBER, TIME, NUMBERS, DIRECTION, QUESTION, TEXT };

static const struct parameter {
	const char *name;
	enum kind kind;
	uint64_t least, most; /* of numbers */
} parameters[] = {
    {"after", NUMBER, 0, UINT32_MAX},
    {"at", TIME, 0, 0},
    {"before", NUMBER, 0, UINT32_MAX},
    {"begin", TIME, 0, 0},
    {"depth", NUMBER, 0, UINT16_MAX},
    {"direction", DIRECTION, 0, 0},
    {"end", TIME, 0, 0},
    {"exact", NUMBER, 0, 1},
    {"from", NUMBER, 0, INT64_MAX},
    {"item", NUMBER, 0, UINT64_MAX},
    {"lane", NUMBER, 0, UINT16_MAX},
    {"limit", NUMBER, 1, 10000},
    {"name", TEXT, 0, 0},
    {"names", NUMBER, 0, UINT32_MAX},
    {"outer", NUMBER, 0, 1},
    {"query", TEXT, 0, 0},
    {"question", QUESTION, 0, 0},
    {"starts", NUMBERS, 0, INT64_MAX},
    {"text", TEXT, 0, 0},
    {"to", NUMBER, 0, INT64_MAX},
    {"track", NUMBER, 0, UINT32_MAX},
    {"tracks", NUMBERS, 0, UINT32_MAX},
    {"width", NUMBER, 1, VIEW_WIDTH_MOST},
};

static const struct parameter *named(const char *name)
{
	for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
		if (strcmp(parameters[i].name, name) == 0)
			return &parameters[i];
	return NULL;
}

/* Takes the next name of a list. False at its end. */
static bool take_name(const char **list, char name[static 16])
{
	const char *at = *list + strspn(*list, " ");
	const size_t length = strcspn(at, " ");
	snprintf(name, 16, "%.*s", (int)length, at);
	*list = at + length;
	return length > 0;
}

static bool has(const char *list, const char *wanted)
{
	char name[16];
	while (take_name(&list, name))
		if (strcmp(name, wanted) == 0)
			return true;
	return false;
}

static bool are_numbers(const char *list, uint64_t most)
{
	uint64_t number;
	while (view_next_number(&list, most, &number))
		continue;
	return list != NULL;
}

/* Whether a value is of its kind; otherwise *wants is the kind. */
static bool fits(const struct view_request *request, const struct parameter *parameter, char *wants, size_t size)
{
	const char *value = view_request_text(request, parameter->name);
	uint64_t number;
	int64_t time;
	switch (parameter->kind) {
	case NUMBER:
		snprintf(wants, size, "a number from %" PRIu64 " to %" PRIu64, parameter->least, parameter->most);
		return view_request_number(request, parameter->name, parameter->most, &number) &&
		       number >= parameter->least;
	case TIME:
		snprintf(wants, size, "a time of up to %" PRId64 " ns, which may be negative", INT64_MAX);
		return view_request_time(request, parameter->name, &time);
	case NUMBERS:
		snprintf(wants, size, "numbers up to %" PRIu64 ", with commas between", parameter->most);
		return are_numbers(value, parameter->most);
	case DIRECTION:
		snprintf(wants, size, "next or previous");
		return strcmp(value, "next") == 0 || strcmp(value, "previous") == 0;
	case QUESTION:
		snprintf(wants, size, "a name of up to 64 of A to Z, a to z, 0 to 9 and -");
		return view_question_is_name(value);
	case TEXT:
		return true;
	}
	return true;
}

bool view_parameters_fit(const struct view_request *request, const char *needs, const char *takes, char *words,
                         size_t size)
{
	char name[16], wants[80];
	for (size_t i = 0; i < request->count; i++) {
		const char *given = request->parameters[i].name;
		const struct parameter *parameter = named(given);
		if (!parameter || !(has(needs, given) || has(takes, given) || has("starts", given))) {
			snprintf(words, size, "%s takes no parameter %.64s", request->path, given);
			return false;
		}
		if (!fits(request, parameter, wants, sizeof wants)) {
			snprintf(words, size, "%s wants %s", given, wants);
			return false;
		}
	}
	for (const char *list = needs; take_name(&list, name);)
		if (!view_request_text(request, name)) {
			snprintf(words, size, "%s: %s is missing", request->path, name);
			return false;
		}
	return true;
}

bool view_parameters_begin(const struct view_request *request, const char *needs)
{
	char name[16];
	return take_name(&needs, name) && view_request_text(request, name);
}
