/* steps.h - what SVE's loads and stores do. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SCALABLE_STEPS_H
#define COLLECT_SCALABLE_STEPS_H

#include "collect/guest_thread.h"

/* Keeps the registers that tell the addresses: the instruction may overwrite them. */
void scalable_before(struct guest_thread *thread, const struct insn *insn);

/* Writes the accesses. Values are those of the registers that were loaded or stored. */
void scalable_after(struct guest_thread *thread, const struct insn *insn);

#endif
