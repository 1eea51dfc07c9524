/* read_thread.h - a reader that another thread reads ahead of the caller. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_THREADS_READ_THREAD_H
#define CORE_THREADS_READ_THREAD_H

#include "core/format.h"

/* Opens a reader that gives what `source` would: the same batches, with each the clock and the dictionary as they are
 * after it. Another thread reads the source, up to some ten thousand rows ahead; its findings are told from there.
 * Until the opened reader is closed nobody else may read the source, and afterwards no more of the source may be read.
 * The opened reader explains a negative status as any reader does. Returns 0 or TW_ERR_MEMORY: then the source has not
 * been touched. */
int tw_open_read_thread(struct tw_reader **opened, struct tw_reader *source);

#endif
