/* listing.c - the files of a directory that have names of xtraces, and which go on where others end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/files/listing.h"

#include "base/memory/memory.h"
#include "base/memory/order.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool xtrace_name_of(const char *text, struct tw_xtrace_name *name)
{
	static const char *const endings[] = {".zst", ".gz"};
	char plain[TW_XTRACE_NAME_SIZE];
	size_t length = strlen(text);
	if (length >= sizeof plain)
		return false;
	memcpy(plain, text, length + 1);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t tail = strlen(endings[i]);
		if (length > tail && strcmp(plain + length - tail, endings[i]) == 0)
			plain[length - tail] = '\0';
	}
	return tw_xtrace_name_parse(plain, name) == 0;
}

static const char *without_zeros(const char *text)
{
	return text + strspn(text, "0");
}

static bool is_number(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0';
}

int xtrace_compare_times(const char *first, const char *second)
{
	if (!is_number(first) || !is_number(second))
		return strcmp(first, second);
	size_t length = strlen(without_zeros(first)), other = strlen(without_zeros(second));
	int order = length == other ? strcmp(without_zeros(first), without_zeros(second)) : tw_compare(length, other);
	return order ? order : strcmp(first, second);
}

static bool is_same_stream(const struct tw_xtrace_name *a, const struct tw_xtrace_name *b)
{
	return a->hint == b->hint && a->number == b->number;
}

static int by_name(const void *a, const void *b)
{
	const struct xtrace_listed *first = a, *second = b;
	const struct tw_xtrace_name *name = &first->name, *other = &second->name;
	if (!is_same_stream(name, other))
		return name->hint == other->hint ? tw_compare(name->number, other->number)
		                                 : tw_compare(name->hint, other->hint);
	int order = xtrace_compare_times(name->timestamp, other->timestamp);
	if (order == 0)
		order = tw_compare(other->snapshots, name->snapshots);
	return order ? order : tw_compare(strlen(first->path), strlen(second->path));
}

static int add(struct xtrace_listing *listing, const char *folder, const char *file)
{
	struct xtrace_listed item = {0};
	if (!xtrace_name_of(file, &item.name))
		return 0;
	if (!tw_grow(&listing->items, &listing->room, listing->count + 1, sizeof *listing->items) ||
	    asprintf(&item.path, "%s/%s", folder, file) < 0)
		return TW_ERR_MEMORY;
	listing->items[listing->count++] = item;
	return 0;
}

/* Leaves out compressed copies: of one name the shortest path comes first. */
static void drop_copies(struct xtrace_listing *listing)
{
	size_t kept = 0;
	for (size_t i = 0; i < listing->count; i++) {
		struct xtrace_listed *item = &listing->items[i], *last = kept ? &listing->items[kept - 1] : NULL;
		if (last && is_same_stream(&last->name, &item->name) && last->name.snapshots == item->name.snapshots &&
		    strcmp(last->name.timestamp, item->name.timestamp) == 0)
			free(item->path);
		else
			listing->items[kept++] = *item;
	}
	listing->count = kept;
}

/* Tells of each file when the files begin that it belongs to. */
static void find_begins(struct xtrace_listing *listing)
{
	const struct xtrace_listed *last = NULL; /* of this number and hint */
	bool has_snapshots = false;              /* the files that it belongs to */
	for (size_t i = 0; i < listing->count; i++) {
		struct xtrace_listed *item = &listing->items[i];
		bool same = last && is_same_stream(&last->name, &item->name);
		bool begun = same && strcmp(last->name.timestamp, item->name.timestamp) == 0;
		bool goes_on = begun || (same && has_snapshots && !item->name.snapshots);
		item->begin = goes_on ? last->begin : item->name.timestamp;
		has_snapshots = item->name.snapshots || (goes_on && has_snapshots);
		last = item;
	}
}

int xtrace_listing_open(struct xtrace_listing *listing, const char *folder)
{
	struct dirent *entry;
	int status = 0;
	DIR *directory = opendir(folder);
	if (!directory)
		return errno == ENOMEM ? TW_ERR_MEMORY : TW_ERR_SYSTEM;
	while (status >= 0 && (entry = readdir(directory)))
		status = add(listing, folder, entry->d_name);
	closedir(directory);
	if (listing->count)
		qsort(listing->items, listing->count, sizeof *listing->items, by_name);
	drop_copies(listing);
	find_begins(listing);
	return status;
}

void xtrace_listing_free(struct xtrace_listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		free(listing->items[i].path);
	free(listing->items);
	*listing = (struct xtrace_listing){0};
}
