/* share.c - a limit that all parts of a trace take from, each as much as it ever held. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/threads/share.h"

enum { STEP = 4096 }; /* bytes taken at once, so that it is not done for each event */

static bool take(struct tw_share *share, size_t more)
{
	size_t used = atomic_load(share->used);
	do {
		if (used > share->limit || more > share->limit - used)
			return false;
	} while (!atomic_compare_exchange_weak(share->used, &used, used + more));
	share->taken += more;
	return true;
}

bool tw_share_extend(struct tw_share *share, size_t bytes)
{
	size_t more = bytes - share->taken, steps = (more + STEP - 1) / STEP * STEP;
	return take(share, steps < more ? more : steps) || take(share, more);
}
