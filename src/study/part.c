/* part.c - what an analysis has of a track, added up over the tracks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study.h"

#include <stdlib.h>

int study_part_begin(struct study_part *part, struct tw_study *study, size_t limit, struct tw_dictionary *names)
{
	*part = (struct study_part){.options = &study->options,
	                            .spaces = &study->spaces,
	                            .all = part == &study->all ? NULL : &study->all};
	tw_budget_reset(&part->budget, limit, 1);
	if (!study_sites_init(&part->sites, &part->budget, names))
		return TW_ERR_MEMORY;
	return study->job->begin ? study->job->begin(part) : 0;
}

void study_part_free(struct study_part *part, const struct study_job *job)
{
	if (job && job->free && part->options)
		job->free(part);
	study_sites_free(&part->sites);
}

static bool map_sites(struct study_part *all, const struct study_part *part, uint32_t *map)
{
	for (size_t i = 1; i < part->sites.count; i++) {
		const struct study_site *site = &part->sites.items[i];
		struct study_site place = *site;
		place.function = study_name_in(&all->sites, &part->sites, site->function);
		if (place.function == UINT32_MAX)
			return false;
		map[i] = study_sites_find(&all->sites, &place);
	}
	for (size_t i = 0; i < part->sites.count; i++) {
		const struct study_site *site = &part->sites.items[i];
		struct study_site *same = &all->sites.items[map[i]];
		same->count += site->count;
		same->next = same->next ? same->next : map[site->next];
	}
	return true;
}

int study_merge(struct tw_study *study, struct study_part *part)
{
	struct study_part *all = &study->all;
	uint32_t *map = calloc(part->sites.count, sizeof *map);
	int status = map && map_sites(all, part, map) ? 0 : TW_ERR_MEMORY;
	all->totals.instructions += part->totals.instructions;
	all->totals.lost_bytes += part->totals.lost_bytes;
	for (unsigned level = 0; level < 4; level++)
		all->totals.levels[level] += part->totals.levels[level];
	all->left_out += part->left_out;
	if (status == 0 && study->job->merge)
		status = study->job->merge(all, part, map);
	free(map);
	return status < 0 ? status : tw_budget_status(&all->budget);
}
