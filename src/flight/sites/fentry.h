/* fentry.h - the places that gcc's -mnop-mcount and -minstrument-return=nop5 leave empty, made to call the recorder. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_FENTRY_H
#define FLIGHT_FENTRY_H

#include "flight/functions/elf.h"

#include <link.h>

/* Patches the places that the sections of an object's file list (-mrecord-mcount, -mrecord-return), where it has both
 * kinds, or calls __fentry__ itself. Returns how many. Uses libc: not from a hook. */
uint64_t flight_patch_places(const struct dl_phdr_info *object, const struct flight_elf *elf);

#endif
