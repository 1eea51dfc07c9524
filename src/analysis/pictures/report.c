/* report.c - what the renderers share: trees laid out, times for people. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/report.h"

#include "base/memory/memory.h"
#include "base/memory/sum.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Rounded half up; what would become 1000 of a unit is 1 of the next. */
void tw_put_time(struct tw_output *out, uint64_t ns)
{
	static const struct {
		uint64_t unit;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (ns >= units[i].unit - units[i].unit / 2000000) {
			uint64_t step = units[i].unit / 1000, thousandths = ns / step + (ns % step * 2 >= step);
			tw_putf(out, "%llu.%03u %s", (unsigned long long)(thousandths / 1000),
			        (unsigned)(thousandths % 1000), units[i].name);
			return;
		}
	tw_putf(out, "%u ns", (unsigned)ns);
}

void tw_put_count(struct tw_output *out, uint64_t count)
{
	if (count >= 1000) {
		tw_put_count(out, count / 1000);
		tw_putf(out, ",%03u", (unsigned)(count % 1000));
	} else {
		tw_putf(out, "%u", (unsigned)count);
	}
}

static void put_size(struct tw_output *out, uint64_t bytes)
{
	static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t unit = 0;
	while (bytes >> (10 * (unit + 1)) && unit < sizeof names / sizeof *names)
		unit++;
	if (unit)
		tw_putf(out, "%.1f %s", (double)bytes / (double)(UINT64_C(1) << (10 * unit)), names[unit - 1]);
	else
		tw_putf(out, bytes == 1 ? "%u byte" : "%u bytes", (unsigned)bytes);
}

const char *tw_weight_words(enum tw_weight weight)
{
	const bool counts = tw_weight_unit(weight) == TW_UNIT_COUNT && weight != TW_WEIGHT_COUNT;
	return tw_weight_name(counts ? weight : tw_weight_count(weight));
}

static void put_words(struct tw_output *out, enum tw_weight weight, uint64_t count)
{
	const char *words = tw_weight_words(weight);
	tw_put_count(out, count);
	tw_put_char(out, ' ');
	tw_put(out, words, strlen(words) - (count == 1));
}

void tw_put_counted(struct tw_output *out, enum tw_weight weight, uint64_t count)
{
	put_words(out, tw_weight_count(weight), count);
}

void tw_put_amount(struct tw_output *out, enum tw_weight weight, uint64_t value)
{
	switch (tw_weight_unit(weight)) {
	case TW_UNIT_COUNT:
		put_words(out, weight, value);
		break;
	case TW_UNIT_NS:
		tw_put_time(out, value);
		break;
	case TW_UNIT_BYTES:
		put_size(out, value);
		break;
	}
}

static void put_totals(struct tw_json *json, const char *total_name, const char *self_name, uint64_t total,
                       const uint64_t *self)
{
	tw_json_u64(json, total_name, total);
	if (self)
		tw_json_u64(json, self_name, *self);
}

void tw_json_weighed(struct tw_json *json, enum tw_weight weight, uint64_t total, const uint64_t *self)
{
	if (weight > TW_WEIGHT_CALLS) {
		tw_json_text(json, "weight", tw_weight_name(weight));
		put_totals(json, "total", "self", total, self);
	}
	if (tw_weight_unit(weight) == TW_UNIT_NS)
		put_totals(json, "total_ns", "self_ns", total, self);
}

/* Children stand after their parents, so one pass backwards sums, and one forwards places. */
static void sum_totals(struct tw_layout *layout, uint32_t *size)
{
	for (uint32_t i = layout->count; i-- > 0;) {
		const struct tw_calltree_node *node = &layout->nodes[i];
		assert(!i || node->parent < i);
		layout->total[i] = tw_sum(layout->total[i], i ? node->self : 0);
		size[i]++;
		if (i) {
			layout->total[node->parent] = tw_sum(layout->total[node->parent], layout->total[i]);
			size[node->parent] += size[i];
		}
	}
}

/* next[i]: the place in the order, and used[i]: the time, that the next child of node i gets. */
static void place(struct tw_layout *layout, const uint32_t *size, uint32_t *next, uint64_t *used)
{
	for (uint32_t i = 0; i < layout->count; i++) {
		uint32_t parent = layout->nodes[i].parent;
		uint32_t at = i ? next[parent] : 0;
		layout->order[at] = i;
		next[i] = at + 1;
		layout->start[i] = i ? layout->start[parent] + used[parent] : 0;
		if (i) {
			next[parent] += size[i];
			used[parent] += layout->total[i];
		}
	}
}

int tw_layout_new(struct tw_layout *layout, const struct tw_calltree_node *nodes, uint32_t count)
{
	size_t n = count ? count : 1;
	*layout = (struct tw_layout){.nodes = nodes,
	                             .count = count,
	                             .order = calloc(n, sizeof *layout->order),
	                             .total = calloc(n, sizeof *layout->total),
	                             .start = calloc(n, sizeof *layout->start)};
	uint32_t *size = calloc(n, sizeof *size);
	uint32_t *next = calloc(n, sizeof *next);
	uint64_t *used = calloc(n, sizeof *used);
	bool enough = layout->order && layout->total && layout->start && size && next && used;
	if (enough) {
		sum_totals(layout, size);
		place(layout, size, next, used);
	} else {
		tw_layout_free(layout);
	}
	free(size);
	free(next);
	free(used);
	return enough ? 0 : TW_ERR_MEMORY;
}

void tw_layout_free(struct tw_layout *layout)
{
	free(layout->order);
	free(layout->total);
	free(layout->start);
	*layout = (struct tw_layout){0};
}

int tw_rows_of(struct tw_rows *rows, struct tw_profile *profile)
{
	size_t count = 0;
	*rows = (struct tw_rows){0};
	while (tw_profile_row(profile, count))
		count++;
	rows->rows = count ? malloc(count * sizeof *rows->rows) : NULL;
	if (count && !rows->rows)
		return TW_ERR_MEMORY;
	for (rows->room = count; rows->count < count; rows->count++)
		rows->rows[rows->count] = *tw_profile_row(profile, rows->count);
	return 0;
}

int tw_nodes_of(struct tw_nodes *nodes, struct tw_calltree *tree)
{
	uint32_t count = 0;
	*nodes = (struct tw_nodes){0};
	while (tw_calltree_node(tree, count))
		count++;
	nodes->nodes = count ? malloc(count * sizeof *nodes->nodes) : NULL;
	if (count && !nodes->nodes)
		return TW_ERR_MEMORY;
	for (nodes->room = count; nodes->count < count; nodes->count++)
		nodes->nodes[nodes->count] = *tw_calltree_node(tree, (uint32_t)nodes->count);
	return 0;
}

static int status_of(int error)
{
	if (!error)
		return 0;
	errno = error;
	return error == ENOMEM ? TW_ERR_MEMORY : TW_ERR_SYSTEM;
}

int tw_report_open(struct tw_output *out, const char *path)
{
	return status_of(tw_output_open(out, path));
}

int tw_report_close(struct tw_output *out, int status)
{
	if (status == 0)
		return status_of(tw_output_close(out));
	tw_output_discard(out);
	return status;
}
