/* version.h - which Trackway this is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_VERSION_H
#define TRACKWAY_VERSION_H

#include <trackway/status.h>

/* The version of these headers. */
#define TW_VERSION "0.1.0"

/* The same as a number that grows, for #if: two hexadecimal digits a part. */
#define TW_VERSION_NUMBER 0x000100

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of the library that runs, as "0.1.0". */
TW_API const char *tw_version(void);

#ifdef __cplusplus
}
#endif

#endif
