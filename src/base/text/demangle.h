/* demangle.h - C++ names from symbols. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_DEMANGLE_H
#define BASE_TEXT_DEMANGLE_H

#include <stddef.h>

/* Demangles a C++ name; NULL where it is none. *budget is how many bytes of output are still allowed, over all calls.
 * Who calls frees. */
char *tw_demangle(const char *symbol, size_t *budget);

#endif
