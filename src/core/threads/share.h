/* share.h - a limit that all parts of a trace take from, each as much as it ever held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_THREADS_SHARE_H
#define CORE_THREADS_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* What one part of a trace takes of the limit of all parts. It gives nothing back before it is closed: so whether all
 * parts find room does not depend on when each of them runs, and where they do, a single reader of the whole finds it,
 * too. */
struct tw_share {
	atomic_size_t *used; /* by all parts */
	size_t limit;        /* of all parts */
	size_t taken;        /* by this one */
};

/* Takes more, until the part has `bytes`, and a little beyond where that is there. False when it is not. */
bool tw_share_extend(struct tw_share *share, size_t bytes);

/* Whether this part may hold so many bytes. */
static inline bool tw_share_holds(struct tw_share *share, size_t bytes)
{
	return bytes <= share->taken || tw_share_extend(share, bytes);
}

/* Gives all back. */
static inline void tw_share_close(struct tw_share *share)
{
	atomic_fetch_sub(share->used, share->taken);
	share->taken = 0;
}

#endif
