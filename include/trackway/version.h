/* version.h - which Trackway this is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_VERSION_H
#define TRACKWAY_VERSION_H

#include <trackway/status.h>

/* The version of these headers. */
#define TW_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of the library that runs, as "0.1.0". */
TW_API const char *tw_version(void);

#ifdef __cplusplus
}
#endif

#endif
