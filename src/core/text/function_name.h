/* function_name.h - the name of a function that a trace knows by number. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TEXT_FUNCTION_NAME_H
#define CORE_TEXT_FUNCTION_NAME_H

#include "core/format.h"

/* Returns the name of function number id in the reader's dictionary: that of its namer, or "#7". UINT32_MAX when there
 * is no memory. */
uint32_t tw_function_name(struct tw_reader *reader, uint32_t id);

#endif
