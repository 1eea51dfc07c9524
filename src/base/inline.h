/* inline.h - functions that become part of their callers, or do not, whatever the compiler would choose. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_INLINE_H
#define BASE_INLINE_H

/* So that an argument that a caller knows is a constant inside, and the state of a loop stays in registers. */
#define TW_INLINE static inline __attribute__((always_inline))

/* So that what is seldom done takes no registers from the loop around it. */
#define TW_NOINLINE static __attribute__((noinline))

#endif
