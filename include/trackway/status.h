/* status.h - what a function of Trackway's returns when it fails. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_STATUS_H
#define TRACKWAY_STATUS_H

/* Marks what the shared library exports. */
#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Structs that a caller fills for the library (options, and tw_stream, tw_sink, tw_own_trace) begin with struct_size:
 * sizeof the struct, or 0, which stands for the members that it has in 0.1. So a program that was compiled with one
 * version runs with another: members that it does not have are 0, the default; members that only it has are not looked
 * at. Who uses members that came after 0.1 sets struct_size, and asks tw_version() whether they are known. */

/* Every function that can fail returns an int: 0 or more is success (a count where the function says so), less than 0
 * is one of these. After a negative status only the text of the error and closing are legal on that handle. Pointers
 * are not NULL unless a comment says that they may be.
 *
 * X(name, number, text) */
#define TW_STATUS_LIST(X)                                                                                              \
	X(TW_OK, 0, "no error")                                                                                        \
	X(TW_ERR_MEMORY, -1, "out of memory")                                                                          \
	X(TW_ERR_SYSTEM, -2, "the system refused") /* errno tells; a file that cannot be opened, read or written */    \
	X(TW_ERR_FORMAT, -3, "not a trace of a known format")                                                          \
	X(TW_ERR_EMPTY, -4, "nothing readable")                                                                        \
	X(TW_ERR_COMPRESSED, -5, "damaged compression")                                                                \
	X(TW_ERR_UNSUPPORTED, -6, "not possible for this format")                                                      \
	X(TW_ERR_ROOM, -7, "the buffer given is too small")                                                            \
	X(TW_ERR_VALUE, -8, "a value does not fit the format")                                                         \
	X(TW_ERR_LIMIT, -9, "the memory limit was reached")

enum tw_status {
#define X(name, number, text) name = number,
	TW_STATUS_LIST(X)
#undef X
};

/* Returns the text of a status: a constant, never NULL, for any number. */
TW_API const char *tw_status_text(int status);

#ifdef __cplusplus
}
#endif

#endif
