/* rules.c - the table of the rules of Chrome's trace event JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/rules.h"

const struct tw_rule chrome_rules[CHROME_RULES] = {
#define X(id, name, severity, text) [id] = {name, severity, text},
    CHROME_RULE_LIST(X)
#undef X
};
