/* rules.c - the table of the rules of uftrace's data. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "uftrace/rules.h"

const struct tw_rule uftrace_rules[UFTRACE_RULES] = {
#define X(id, name, severity, text) [id] = {name, severity, text},
    UFTRACE_RULE_LIST(X)
#undef X
};
