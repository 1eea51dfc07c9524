/* source_lines.c - the source lines of a log's instructions, by their functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/jobs/source_lines.h"

#include "base/memory/memory.h"

#include <trackway/event.h>

#include <stdlib.h>
#include <string.h>

enum { LINE_COST = 256 /* bytes of an instruction, a line or a file, about */ };

static bool take_room(struct tracelog_source_lines *lines)
{
	if (lines->memory < LINE_COST)
		return false;
	lines->memory -= LINE_COST;
	return true;
}

static uint64_t hash_of_ip(const struct tracelog_placed_ip *ip)
{
	return tw_hash_two(tw_hash_two(ip->session, ip->iid), ip->ip);
}

bool tracelog_find_line(const struct tracelog_source_lines *lines, const struct tracelog_placed_ip *ip, uint32_t *line)
{
	uint32_t place;
	for (size_t slot = SIZE_MAX; tw_map_next(&lines->by_ip, hash_of_ip(ip), &slot, &place);) {
		const struct tracelog_placed_ip *known = &lines->ips[place];
		if (known->ip == ip->ip && known->iid == ip->iid && known->session == ip->session) {
			*line = known->line;
			return true;
		}
	}
	return false;
}

static bool find_file(const struct tracelog_source_lines *lines, uint32_t session, uint32_t name, uint32_t *place)
{
	return tw_map_find(&lines->by_file, (uint64_t)session << 32 | name, place);
}

/* The place of a file; false where there is no memory. */
static bool add_file(struct tracelog_source_lines *lines, uint32_t session, uint32_t name, const struct tw_name *text,
                     uint32_t *place)
{
	if (find_file(lines, session, name, place))
		return true;
	char *path = take_room(lines) ? malloc(text->length + 1) : NULL;
	*place = (uint32_t)lines->file_count;
	if (!path || !tw_grow(&lines->files, &lines->file_room, lines->file_count + 1, sizeof *lines->files) ||
	    !tw_map_add(&lines->by_file, (uint64_t)session << 32 | name, *place)) {
		free(path);
		return false;
	}
	memcpy(path, text->text, text->length);
	lines->files[lines->file_count++] = (struct tracelog_line_file){session, name, path, text->length, false};
	return true;
}

static bool is_same_line(const struct tracelog_line_of_function *a, const struct tracelog_line_of_function *b)
{
	return a->session == b->session && a->iid == b->iid && a->file == b->file && a->at.line == b->at.line &&
	       a->at.column == b->at.column && a->at.end_line == b->at.end_line && a->at.end_column == b->at.end_column;
}

/* The same for a line. */
static bool add_line(struct tracelog_source_lines *lines, const struct tracelog_line_of_function *line, uint32_t *place)
{
	const uint64_t hash = tw_hash_two(tw_hash_two(line->session, line->iid),
	                                  tw_hash_two(line->file, (uint64_t)line->at.line << 32 | line->at.column));
	for (size_t slot = SIZE_MAX; tw_map_next(&lines->by_line, hash, &slot, place);)
		if (is_same_line(&lines->lines[*place], line))
			return true;
	*place = (uint32_t)lines->line_count;
	if (!take_room(lines) ||
	    !tw_grow(&lines->lines, &lines->line_room, lines->line_count + 1, sizeof *lines->lines) ||
	    !tw_map_add(&lines->by_line, hash, *place))
		return false;
	lines->lines[lines->line_count++] = *line;
	return true;
}

void tracelog_note_line(struct tracelog_source_lines *lines, const struct tracelog_placed_ip *ip, uint32_t name,
                        const struct tw_name *path, const struct tracelog_pdb_line *at)
{
	struct tracelog_line_of_function line = {.session = ip->session, .iid = ip->iid, .at = *at};
	struct tracelog_placed_ip made = *ip;
	if (tracelog_find_line(lines, ip, &made.line))
		return;
	if (!add_file(lines, ip->session, name, path, &line.file) || !add_line(lines, &line, &made.line) ||
	    !take_room(lines))
		return;
	const uint32_t place = (uint32_t)lines->ip_count;
	if (!tw_grow(&lines->ips, &lines->ip_room, lines->ip_count + 1, sizeof *lines->ips) ||
	    !tw_map_add(&lines->by_ip, hash_of_ip(ip), place))
		lines->failed = true;
	else
		lines->ips[lines->ip_count++] = made;
}

void tracelog_source_lines_free(struct tracelog_source_lines *lines)
{
	for (size_t i = 0; i < lines->file_count; i++)
		free(lines->files[i].path);
	free(lines->files);
	free(lines->lines);
	free(lines->ips);
	tw_map_free(&lines->by_ip);
	tw_map_free(&lines->by_line);
	tw_map_free(&lines->by_file);
}
