/* owners.h - classes and modules of functions, which most targets have no place for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_OWNERS_H
#define CORE_OWNERS_H

#include "core/format.h"

/* Counts the functions whose class, and those whose module, the target does not tell. */
void tw_count_owners(struct tw_writer *writer, const struct tw_dictionary *dictionary);

#endif
