/* rules.c - the table of the rules of FXT archives. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/format/rules.h"

const struct tw_rule fxt_rules[FXT_RULES] = {
#define X(id, name, severity, text) [id] = {name, severity, text},
    FXT_RULE_LIST(X)
#undef X
};
