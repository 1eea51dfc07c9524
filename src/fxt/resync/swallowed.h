/* swallowed.h - where records begin inside of another one: bytes of that are missing, and its size takes in the
 * beginning of what follows it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_RESYNC_SWALLOWED_H
#define FXT_RESYNC_SWALLOWED_H

#include "fxt/resync/evidence.h"

/* Looks into the first record of a view, of `size` bytes, behind which no record begins. Returns where in it others
 * begin that follow one another across its end; `size` if nowhere. large: it is a large record, or the end of one. */
size_t fxt_find_swallowed(const struct fxt_view *view, size_t size, bool large);

/* Looks into bytes[0, end), which say that they are records, with bytes between `end` and `next` that are none. Returns
 * where others begin that follow one another to `next`; `end` if nowhere. */
size_t fxt_find_swallowed_across(const struct fxt_view *view, size_t end, size_t next);

/* Looks into bytes[0, size), the contents of a large record of an unknown type. Returns where so many records follow
 * one another that it must be damage; `size` if nowhere. */
size_t fxt_find_in_unknown(const struct fxt_view *view, size_t size);

#endif
