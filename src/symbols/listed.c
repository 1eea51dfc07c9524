/* listed.c - programs and threads that a list of what was loaded where tells of: `record` writes such lists. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "symbols/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool tw_list_program(struct tw_listed *list, uint32_t number, size_t *program)
{
	*program = 0;
	for (size_t i = list->program_count; !*program && i-- > 0;)
		*program = list->programs[i].number == number ? i + 1 : 0;
	if (*program || list->program_count == TW_PROGRAMS_MOST)
		return true;
	if (!tw_grow(&list->programs, &list->program_room, list->program_count + 1, sizeof *list->programs))
		return false;
	list->programs[list->program_count++] = (struct tw_listed_program){.number = number};
	*program = list->program_count;
	return true;
}

/* ---- Comments. ---- */

static bool take_word(const char **text, const char *word)
{
	const size_t length = strlen(word);
	if (strncmp(*text, word, length) != 0)
		return false;
	*text += length;
	return true;
}

static bool take_number(const char **text, uint64_t most, uint64_t *number)
{
	char *end;
	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0 && *number <= most;
}

static bool add_thread(struct tw_listed *list, uint64_t thread, uint64_t number)
{
	size_t program;
	if (!tw_list_program(list, (uint32_t)number, &program))
		return false;
	if (!program || list->thread_count == TW_LISTED_THREADS_MOST)
		return true;
	if (!tw_grow(&list->threads, &list->thread_room, list->thread_count + 1, sizeof *list->threads))
		return false;
	list->threads[list->thread_count++] = (struct tw_listed_thread){thread, program};
	return true;
}

/* A child is new, and its parent is not the child: so no program comes of itself. */
static bool add_child(struct tw_listed *list, uint64_t number, uint64_t of)
{
	size_t parent, child;
	if (number == of)
		return true;
	if (!tw_list_program(list, (uint32_t)of, &parent))
		return false;
	const size_t before = list->program_count;
	if (!tw_list_program(list, (uint32_t)number, &child))
		return false;
	if (list->program_count > before) {
		list->programs[child - 1].parent = parent;
		list->programs[child - 1].mark = list->code_count;
	}
	return true;
}

/* "# thread 4711: program 2", "# program 3: as 2 so far". Others are for people. */
bool tw_list_note(struct tw_listed *list, const char *text)
{
	uint64_t first, second;
	if (take_word(&text, "# thread "))
		return !(take_number(&text, UINT64_MAX, &first) && take_word(&text, ": program ") &&
		         take_number(&text, UINT32_MAX, &second) && second && !*text) ||
		       add_thread(list, first, second);
	if (take_word(&text, "# program "))
		return !(take_number(&text, UINT32_MAX, &first) && first && take_word(&text, ": as ") &&
		         take_number(&text, UINT32_MAX, &second) && second && strcmp(text, " so far") == 0) ||
		       add_child(list, first, second);
	return true;
}

/* ---- What a child has of its parent's. ---- */

/* The number of a file's place in a program; how many there are where it has none. */
static size_t find_place(const struct tw_listed *list, const struct tw_place_of_file *wanted, size_t program)
{
	size_t i = 0;
	for (; i < list->place_count; i++) {
		const struct tw_place_of_file *place = &list->places[i];
		if (place->program == program && place->file == wanted->file && place->start == wanted->start)
			break;
	}
	return i;
}

static bool copy_code(struct tw_listed *list, size_t from, size_t program)
{
	struct tw_place_of_file copy = list->places[list->code[from].place];
	const size_t place = find_place(list, &copy, program);
	copy.program = program;
	if (!tw_grow(&list->places, &list->place_room, place + 1, sizeof *list->places) ||
	    !tw_grow(&list->code, &list->code_room, list->code_count + 1, sizeof *list->code))
		return false;
	if (place == list->place_count)
		list->places[list->place_count++] = copy;
	list->code[list->code_count] = list->code[from];
	list->code[list->code_count++].place = place;
	return true;
}

/* Before the mark of the nearest ancestor's child that had code there, and of the children below it: what that ancestor
 * had of its own parent is among it. */
bool tw_list_own(struct tw_listed *list, size_t program)
{
	struct tw_listed_program *own = &list->programs[program - 1];
	size_t mark = own->mark, parent = own->parent;
	bool fine = true;
	if (own->has_own)
		return true;
	own->has_own = true;
	own->first = list->code_count;
	while (parent && !(list->programs[parent - 1].has_own && list->programs[parent - 1].first < mark)) {
		const size_t its = list->programs[parent - 1].mark;
		mark = its < mark ? its : mark;
		parent = list->programs[parent - 1].parent;
	}
	for (size_t i = parent ? list->programs[parent - 1].first : mark;
	     fine && i < mark && list->place_count < TW_PLACES_MOST && list->code_count < TW_CODE_MOST; i++)
		if (list->places[list->code[i].place].program == parent)
			fine = copy_code(list, i, program);
	return fine;
}
