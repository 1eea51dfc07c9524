/* fields.h - the fields of records as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_FIELDS_H
#define CLI_OUTPUT_FIELDS_H

#include "core/text/fields.h"

/* The value only. Bytes, and text that holds more than plain characters, are put in quotes, with \xNN for what cannot
 * be shown. */
void tw_put_field_text(struct tw_output *out, const struct tw_field *field);

#endif
