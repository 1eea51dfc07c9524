/* findings.c - collecting what a reader finds wrong, within bounds, and listing it in order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/findings.h"

#include "base/memory/memory.h"
#include "base/memory/order.h"

#include <stdlib.h>
#include <string.h>

/* The findings of one rule: a heap with the largest on top, so that with a full heap the largest makes room. Findings
 * come in any order (several threads read), and which are kept must not depend on it. */
struct tw_findings_rule {
	const char *name; /* a constant of the library */
	enum tw_severity severity;
	struct tw_kept *heap;
	size_t count, room, put;
	uint64_t total;
};

static int compare(const struct tw_kept *a, const struct tw_kept *b)
{
	int order = strcmp(a->file, b->file);
	order = order ? order : tw_compare(a->record, b->record);
	order = order ? order : tw_compare(a->at, b->at);
	order = order ? order : tw_compare(a->line, b->line);
	order = order ? order : strcmp(a->rule, b->rule);
	return order ? order : strcmp(a->text, b->text);
}

static int compare_pointers(const void *a, const void *b)
{
	const struct tw_kept *const *first = a, *const *second = b;
	return compare(*first, *second);
}

static void sift_up(struct tw_kept *heap, size_t i)
{
	for (size_t above; i && compare(&heap[above = (i - 1) / 2], &heap[i]) < 0; i = above) {
		struct tw_kept other = heap[above];
		heap[above] = heap[i];
		heap[i] = other;
	}
}

static void sift_down(struct tw_kept *heap, size_t count, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && compare(&heap[child], &heap[child + 1]) < 0)
			child++;
		if (compare(&heap[child], &heap[i]) <= 0)
			return;
		struct tw_kept other = heap[child];
		heap[child] = heap[i];
		heap[i] = other;
	}
}

static struct tw_findings_rule *find_rule(struct tw_findings *findings, const struct tw_finding *finding)
{
	for (size_t i = 0; i < findings->rule_count; i++)
		if (findings->rules[i].name == finding->rule || strcmp(findings->rules[i].name, finding->rule) == 0)
			return &findings->rules[i];
	if (!tw_grow(&findings->rules, &findings->rule_room, findings->rule_count + 1, sizeof *findings->rules))
		return NULL;
	struct tw_findings_rule *rule = &findings->rules[findings->rule_count++];
	*rule = (struct tw_findings_rule){.name = finding->rule, .severity = finding->severity};
	return rule;
}

/* Adds a finding to the heap, which frees its text from here on. Returns false when there is no memory. */
static bool keep(struct tw_findings_rule *rule, size_t limit, const struct tw_kept *kept)
{
	if (rule->count < limit) {
		if (!tw_grow(&rule->heap, &rule->room, rule->count + 1, sizeof *rule->heap))
			return false;
		rule->heap[rule->count] = *kept;
		sift_up(rule->heap, rule->count++);
		return true;
	}
	char *old = rule->heap[0].text;
	rule->heap[0] = *kept;
	sift_down(rule->heap, rule->count, 0);
	free(old);
	return true;
}

/* Gives a finding its own text and file. */
static bool copy_texts(struct tw_kept *kept, const struct tw_finding *finding)
{
	size_t length = strlen(finding->text) + 1, file = strlen(finding->file) + 1;
	kept->text = malloc(length + file);
	if (!kept->text)
		return false;
	memcpy(kept->text, finding->text, length);
	kept->file = memcpy(kept->text + length, finding->file, file);
	return true;
}

void tw_findings_add(void *context, const struct tw_finding *finding)
{
	struct tw_findings *findings = context;
	struct tw_findings_rule *rule = find_rule(findings, finding);
	if (!rule) {
		findings->dropped++;
		return;
	}
	rule->total++;
	struct tw_kept kept = {
	    .severity = finding->severity,
	    .rule = rule->name,
	    .record = finding->record,
	    .at = finding->at,
	    .line = finding->line,
	    .column = finding->column,
	    .text = (char *)(uintptr_t)finding->text, /* for the comparison; the copy comes when it is kept */
	    .file = finding->file,
	};
	if (findings->limit == 0 || (rule->count == findings->limit && compare(&kept, &rule->heap[0]) >= 0))
		return;
	if (!copy_texts(&kept, finding) || !keep(rule, findings->limit, &kept)) {
		free(kept.text);
		findings->dropped++;
	}
}

static size_t count_kept(const struct tw_findings *findings, enum tw_severity least)
{
	size_t count = 0;
	for (size_t i = 0; i < findings->rule_count; i++)
		if (findings->rules[i].severity >= least)
			count += findings->rules[i].count;
	return count;
}

/* Counts a finding for its rule; findings come in the order of their records. Returns whether it is shown. */
static bool count_shown(const struct tw_findings *findings, const struct tw_kept *kept,
                        const struct tw_findings_list *list)
{
	struct tw_findings_rule *rule = findings->rules;
	while (rule->name != kept->rule)
		rule++;
	if (list->notes && rule->severity == TW_NOTE && rule->put == list->notes)
		return false;
	rule->put++;
	return true;
}

static bool put_sorted(const struct tw_findings *findings, enum tw_severity least, const struct tw_findings_list *list)
{
	size_t count = count_kept(findings, least), n = 0;
	const struct tw_kept **sorted = count ? malloc(count * sizeof *sorted) : NULL;
	if (!sorted)
		return count == 0;
	for (size_t i = 0; i < findings->rule_count; i++)
		for (size_t k = 0; findings->rules[i].severity >= least && k < findings->rules[i].count; k++)
			sorted[n++] = &findings->rules[i].heap[k];
	qsort(sorted, count, sizeof *sorted, compare_pointers);
	for (size_t i = 0; i < count; i++)
		if (count_shown(findings, sorted[i], list))
			list->put(list->context, sorted[i]);
	free(sorted);
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct tw_findings_rule *first = a, *second = b;
	return strcmp(first->name, second->name);
}

bool tw_findings_each(const struct tw_findings *findings, enum tw_severity least, const struct tw_findings_list *list)
{
	for (size_t i = 0; i < findings->rule_count; i++)
		findings->rules[i].put = 0;
	bool fine = put_sorted(findings, least, list) && findings->dropped == 0;
	if (findings->rule_count)
		qsort(findings->rules, findings->rule_count, sizeof *findings->rules, by_name);
	for (size_t i = 0; i < findings->rule_count; i++) {
		const struct tw_findings_rule *rule = &findings->rules[i];
		if (rule->severity >= least && rule->total > rule->put)
			list->more(list->context, rule->name, rule->total - rule->put);
	}
	return fine;
}

static int by_place(const void *a, const void *b)
{
	return compare(a, b);
}

/* Keeps of a rule's findings those that are wanted. Their heap becomes a list: nothing can be added to it any more. */
static void sift_rule(struct tw_findings_rule *rule, size_t most,
                      bool (*wanted)(void *context, const struct tw_kept *kept), void *context)
{
	size_t kept = 0;
	rule->total = 0;
	if (rule->count)
		qsort(rule->heap, rule->count, sizeof *rule->heap, by_place);
	for (size_t i = 0; i < rule->count; i++) {
		bool stays = wanted(context, &rule->heap[i]);
		rule->total += stays;
		if (stays && kept < most)
			rule->heap[kept++] = rule->heap[i];
		else
			free(rule->heap[i].text);
	}
	rule->count = kept;
}

void tw_findings_keep(struct tw_findings *findings, size_t most,
                      bool (*wanted)(void *context, const struct tw_kept *kept), void *context)
{
	for (size_t i = 0; i < findings->rule_count; i++) {
		findings->unjudged += findings->rules[i].total - findings->rules[i].count;
		sift_rule(&findings->rules[i], most, wanted, context);
	}
}

void tw_findings_visit(const struct tw_findings *findings, void (*visit)(void *context, const struct tw_kept *kept),
                       void *context)
{
	for (size_t i = 0; i < findings->rule_count; i++)
		for (size_t k = 0; k < findings->rules[i].count; k++)
			visit(context, &findings->rules[i].heap[k]);
}

uint64_t tw_findings_count(const struct tw_findings *findings, enum tw_severity severity)
{
	uint64_t count = 0;
	for (size_t i = 0; i < findings->rule_count; i++)
		count += findings->rules[i].severity == severity ? findings->rules[i].total : 0;
	return count;
}

void tw_findings_clear(struct tw_findings *findings)
{
	for (size_t i = 0; i < findings->rule_count; i++) {
		for (size_t k = 0; k < findings->rules[i].count; k++)
			free(findings->rules[i].heap[k].text);
		free(findings->rules[i].heap);
	}
	free(findings->rules);
	*findings = (struct tw_findings){.limit = findings->limit};
}
