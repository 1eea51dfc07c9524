/* hint.h - what a name may be that a statement has and no table: a word like it, or what Perfetto calls so. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_HINT_H
#define SQL_PERFETTO_HINT_H

#include "sql/perfetto/script.h"

/* Puts behind what is wrong with a statement what it may be about; nothing where that is not known. */
void sql_hint(const struct sql_script *script, struct sql_fault *fault);

#endif
