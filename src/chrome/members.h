/* members.h - what a JSON document holds beside its events. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHROME_MEMBERS_H
#define CHROME_MEMBERS_H

#include "chrome/chrome.h"

/* Takes the value of a member of the document, whose first byte is at the stream's place. Returns CHROME_AGAIN where it
 * holds events, 1 where it has been skipped, 0 where the file ends first, or a negative status. */
int chrome_take_member(struct chrome_stream *stream, const struct chrome_value *key, uint8_t first);

#endif
