/* steps.h - what instructions do. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_STEPS_H
#define COLLECT_STEPS_H

#include "collect/guest_thread.h"

/* What an instruction of a kind takes. `before` of a kind without `after` follows its INST at once. */
struct kind_steps {
	void (*before)(struct guest_thread *thread, const struct insn *insn);
	void (*after)(struct guest_thread *thread, const struct insn *insn);
	bool accesses;
};

/* By enum op_kind. */
extern const struct kind_steps steps[];

/* Before each system call and MSR: notes what must be known later, be it recorded or not. */
void steps_notice(struct guest_thread *thread, const struct insn *insn);

/* Loads and stores by register, each a token; others by as large powers of two as there are. */
void steps_put_accesses(struct guest_thread *thread, const struct insn *insn, bool is_load, const uint8_t *bytes);

/* With several threads the registers are right where memory may have changed: takes the values of an access from them.
 * What is loaded to register 31 cannot be known. */
void steps_take_registers(struct guest_thread *thread, const struct opcode *op);

#endif
