/* parted.c - places where code of several files is: whose it is is known where each is of another program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "symbols/places.h"

#include <stdlib.h>

/* Which places are marked: places of code that reach into each other and are not the same. */
struct part_test {
	bool (*same)(const struct tw_place_of_file *a, const struct tw_place_of_file *b);
	void (*mark)(struct tw_place_of_file *place);
};

/* How far code before reaches: the farthest, and the farthest that is not the same. */
struct reach {
	const struct tw_place_of_file *place[2];
	uint64_t to[2];
};

static void take_reach(struct reach *reach, const struct part_test *asked, const struct tw_place_of_file *place,
                       uint64_t to)
{
	const bool known = reach->place[0] != NULL, same = known && asked->same(reach->place[0], place);
	if (known && !same && to > reach->to[0]) {
		reach->place[1] = reach->place[0];
		reach->to[1] = reach->to[0];
	}
	const unsigned which = known && !same && to <= reach->to[0];
	if (reach->place[which] && to <= reach->to[which])
		return;
	reach->place[which] = place;
	reach->to[which] = to;
}

/* Marks the places of code that begins where other code, which began before it, has not ended; `down`: the same from
 * the end on, of code that ends where other code has begun. */
static void sweep(struct tw_listed *list, size_t from, size_t to, const struct part_test *asked, bool down)
{
	struct reach reach = {0};
	for (size_t i = from; i < to; i++) {
		const struct tw_code *code = &list->code[down ? to - 1 - (i - from) : i];
		struct tw_place_of_file *place = &list->places[code->place];
		const uint64_t begin = down ? ~code->end : code->start, end = down ? ~code->start : code->end;
		const bool other = reach.place[0] && asked->same(reach.place[0], place);
		if (reach.place[other] && reach.to[other] > begin)
			asked->mark(place);
		take_reach(&reach, asked, place, end);
	}
}

static void ask(struct tw_listed *list, size_t from, size_t to, const struct part_test *asked)
{
	sweep(list, from, to, asked, false);
	sweep(list, from, to, asked, true);
}

/* ---- Questions. ---- */

static bool same_file(const struct tw_place_of_file *a, const struct tw_place_of_file *b)
{
	return a->file == b->file;
}

static bool same_place(const struct tw_place_of_file *a, const struct tw_place_of_file *b)
{
	return a->file == b->file && a->start == b->start;
}

static void mark_shared(struct tw_place_of_file *place)
{
	place->is_shared = true;
}

static void mark_of_all(struct tw_place_of_file *place)
{
	place->is_shared |= place->program == 0;
}

static void mark_parted(struct tw_place_of_file *place)
{
	place->is_parted |= place->program != 0;
}

static const struct part_test inside = {same_file, mark_shared}, of_all = {same_file, mark_of_all},
			      between = {same_place, mark_parted};

/* ---- The list. ---- */

static int by_start(const void *a, const void *b)
{
	const struct tw_code *x = a, *y = b;
	return tw_compare(x->start, y->start);
}

static int by_program(const void *a, const void *b)
{
	const struct tw_code *x = a, *y = b;
	int order = tw_compare(x->program, y->program);
	return order ? order : by_start(a, b);
}

static void ask_each(struct tw_listed *list)
{
	qsort(list->code, list->code_count, sizeof *list->code, by_program);
	for (size_t from = 0, to; from < list->code_count; from = to) {
		for (to = from + 1; to < list->code_count && list->code[to].program == list->code[from].program;)
			to++;
		ask(list, from, to, &inside);
	}
}

void tw_list_part(struct tw_listed *list)
{
	if (!list->code_count)
		return;
	for (size_t i = 0; !list->thread_count && i < list->place_count; i++)
		list->places[i].program = 0; /* nobody would find it */
	for (size_t i = 0; i < list->code_count; i++)
		list->code[i].program = list->places[list->code[i].place].program;
	ask_each(list);
	qsort(list->code, list->code_count, sizeof *list->code, by_start);
	ask(list, 0, list->code_count, &of_all);
	ask(list, 0, list->code_count, &between);
}
