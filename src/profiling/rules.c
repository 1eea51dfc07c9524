/* rules.c - the table of the rules of xray-profiling logs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiling/rules.h"

const struct tw_rule profiling_rules[PROFILING_RULES] = {
#define X(id, name, severity, text) [id] = {name, severity, text},
    PROFILING_RULE_LIST(X)
#undef X
};
