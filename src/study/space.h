/* space.h - address spaces: addresses of user programs that are the same, and are not of the same memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_SPACE_H
#define STUDY_SPACE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers from 1 on; 0 is where the trace does not tell. Those beyond the last are not told apart. */
enum { STUDY_SPACES = 4094, STUDY_SPACE_SHIFT = 52 };

/* What all tracks share. */
struct study_spaces {
	pthread_mutex_t lock;
	uint64_t tables[STUDY_SPACES]; /* TTBR0_EL1, without the number of the space */
	size_t count;
};

/* The number of the space with these tables; 0 of 0. */
uint64_t study_space(struct study_spaces *spaces, uint64_t tables);

/* An address of no other space: where it is of a user program, the number is in bits 52 to 63. */
static inline uint64_t study_in_space(uint64_t address, uint64_t space)
{
	return address >> STUDY_SPACE_SHIFT ? address : address | space << STUDY_SPACE_SHIFT;
}

/* Takes the space off an address. Returns its tables; 0 where they are not known, and of the kernel's. */
uint64_t study_take_space(const struct study_spaces *spaces, uint64_t *address);

#endif
