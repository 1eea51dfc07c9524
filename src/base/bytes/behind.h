/* behind.h - pieces of an output that another thread works on behind the caller, in order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_BEHIND_H
#define BASE_BYTES_BEHIND_H

/* What is done with a piece that the caller has filled. */
typedef void tw_behind_fn(void *context, void *piece);

struct tw_behind;

enum { TW_BEHIND_PIECES = 16 }; /* at most */

/* Goes round `count` pieces. NULL when there is no memory or no thread. */
struct tw_behind *tw_behind_new(tw_behind_fn *work, void *context, void *const pieces[], unsigned count);

/* The piece to fill next; waits while all others are still to be worked on. The same one until it is handed over. */
void *tw_behind_piece(struct tw_behind *behind);

/* Hands it over. */
void tw_behind_put(struct tw_behind *behind);

/* Waits until all is done that was handed over; nothing may be after that. */
void tw_behind_end(struct tw_behind *behind);

/* Stops, wherever it is, and frees; NULL is fine. */
void tw_behind_free(struct tw_behind *behind);

#endif
