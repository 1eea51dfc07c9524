/* rules.c - the table of the rules of xtrace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/format/rules.h"

const struct tw_rule xtrace_rules[XTRACE_RULES] = {
#define X(id, name, severity, text) [id] = {name, severity, text},
    XTRACE_RULE_LIST(X)
#undef X
};
