/* detail.h - how much QEMU calls for: everything that is to be recorded, or only what tells when recording begins.
 *
 * QEMU puts calls into a block when it translates it. When another amount of them is wanted it has to forget what it
 * has translated. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_WINDOWS_DETAIL_H
#define COLLECT_WINDOWS_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

/* id: the plugin's; register_calls: has QEMU call the plugin as at the start; full: with everything from the start. */
void detail_setup(uint64_t id, void (*register_calls)(uint64_t id), bool full);

/* Whether a block that is translated now gets all calls. */
bool detail_full(void);

/* The calling thread will record: from its next block on it gets all calls. And it does so no longer. */
void detail_want(void);
void detail_release(void);

/* Blocks get other calls than before, of either amount. */
void detail_renew(void);

/* A child process has one thread; wants: it records. */
void detail_begin_child(bool wants);

/* The calling thread ends: its processor is freed next. */
void detail_leave(void);

/* QEMU has forgotten its translations. */
void detail_flushed(void);

#endif
