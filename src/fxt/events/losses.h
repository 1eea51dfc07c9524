/* losses.h - what a recorder has lost, as the objects of its process and threads tell: doc/recording.md. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_EVENTS_LOSSES_H
#define FXT_EVENTS_LOSSES_H

#include "fxt/walk/chunk.h"

/* Notes what the record of a kernel object at a place tells of events that were dropped or overwritten. */
void fxt_note_losses(struct fxt_chunk *chunk, const struct tw_fxt_record *record, size_t place);

#endif
