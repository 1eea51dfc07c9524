/* class.h - the kinds of instruction that a mix is told by. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_CLASS_H
#define STUDY_CLASS_H

#include <stdint.h>

/* X(enumerator, name). What both loads and stores is an atomic. */
#define STUDY_CLASS_LIST(X)                                                                                            \
	X(STUDY_LOAD, "load")                                                                                          \
	X(STUDY_STORE_CLASS, "store")                                                                                  \
	X(STUDY_ATOMIC, "atomic")           /* exclusive, acquire and release, read-modify-write */                    \
	X(STUDY_CONDITIONAL, "conditional") /* B.cond, CBZ, TBZ */                                                     \
	X(STUDY_JUMP, "jump")               /* B, BR */                                                                \
	X(STUDY_CALL, "call")                                                                                          \
	X(STUDY_RETURN, "return")                                                                                      \
	X(STUDY_ARITHMETIC, "arithmetic") /* of general registers: add, compare, logic, move, address */               \
	X(STUDY_MULTIPLY, "multiply")     /* and divide */                                                             \
	X(STUDY_SHIFT, "shift")           /* and bit fields, extensions, reversals */                                  \
	X(STUDY_SELECT, "select")         /* conditional selects and compares */                                       \
	X(STUDY_FLOAT, "float")           /* scalar floating point */                                                  \
	X(STUDY_VECTOR, "vector")         /* Advanced SIMD, SVE, SME */                                                \
	X(STUDY_SYSTEM, "system")         /* SVC, MRS, MSR, barriers, hints, caches */                                 \
	X(STUDY_OTHER, "other")

enum study_class {
#define X(id, name) id,
	STUDY_CLASS_LIST(X)
#undef X
	    STUDY_CLASSES
};

enum study_class study_class_of(uint32_t opcode);
const char *study_class_name(enum study_class class);

#endif
