/* rules.c - the table of the rules of TraceLog. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/format/rules.h"

const struct tw_rule tracelog_rules[TRACELOG_RULES] = {
#define X(id, name, severity, text) [id] = {name, severity, text},
    TRACELOG_RULE_LIST(X)
#undef X
};
