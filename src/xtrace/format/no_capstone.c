/* no_capstone.c - a build without capstone: instructions have no text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/format/capstone.h"

#include "base/load.h"

bool xtrace_capstone_open(struct xtrace_capstone **capstone)
{
	*capstone = NULL;
	return true;
}

void xtrace_capstone_close(struct xtrace_capstone *capstone)
{
	(void)capstone;
}

void xtrace_capstone_note_absence(void)
{
	tw_note_absence("instructions have no text: this trackway is built without capstone");
}

bool xtrace_capstone_text(struct xtrace_capstone *capstone, const uint8_t bytes[4], char text[XTRACE_TEXT])
{
	(void)capstone;
	(void)bytes;
	*text = '\0';
	return false;
}
