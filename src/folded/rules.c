/* rules.c - the table of the rules of folded stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "folded/rules.h"

const struct tw_rule folded_rules[FOLDED_RULES] = {
#define X(id, name, severity, text) [id] = {name, severity, text},
    FOLDED_RULE_LIST(X)
#undef X
};
