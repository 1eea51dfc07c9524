/* demangle.h - C++, Rust and D names from symbols. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_DEMANGLE_H
#define BASE_TEXT_DEMANGLE_H

#include <stddef.h>

/* Demangles a C++ name, one of Rust's mangling v0, or one of D; NULL where it is none. *budget is how many bytes of
 * output are still allowed, over all calls. Who calls frees. */
char *tw_demangle(const char *symbol, size_t *budget);

/* Demangles what begins with "_R", and is at most 4,096 bytes long; NULL where it is no such name. Who calls frees. */
char *tw_demangle_rust(const char *symbol);

/* The same of what begins with "_D": the name of a function, without its parameters and its result. */
char *tw_demangle_d(const char *symbol);

#endif
