/* space.c - address spaces: addresses of user programs that are the same, and are not of the same memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/space.h"

uint64_t study_space(struct study_spaces *spaces, uint64_t tables)
{
	size_t i = 0;
	if (!tables)
		return 0;
	pthread_mutex_lock(&spaces->lock);
	while (i < spaces->count && spaces->tables[i] != tables)
		i++;
	if (i == spaces->count && spaces->count < STUDY_SPACES)
		spaces->tables[spaces->count++] = tables;
	pthread_mutex_unlock(&spaces->lock);
	return i < STUDY_SPACES ? i + 1 : STUDY_SPACES;
}

uint64_t study_take_space(const struct study_spaces *spaces, uint64_t *address)
{
	uint64_t number = *address >> STUDY_SPACE_SHIFT;
	if (!number || number > spaces->count)
		return 0;
	*address &= (UINT64_C(1) << STUDY_SPACE_SHIFT) - 1;
	return spaces->tables[number - 1];
}
