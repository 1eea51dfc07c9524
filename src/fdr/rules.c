/* rules.c - the table of the rules of XRay logs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/rules.h"

const struct tw_rule fdr_rules[FDR_RULES] = {
#define X(id, name, severity, text) [id] = {name, severity, text},
    FDR_RULE_LIST(X)
#undef X
};
