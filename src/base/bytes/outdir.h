/* outdir.h - a directory whose files appear when all of them are complete. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_OUTDIR_H
#define BASE_BYTES_OUTDIR_H

#include <stdbool.h>

/* Until then the files are in a directory with a name of begun.h: beside the place, which gets its name in one step; or
 * in the place, where that is a directory already, of which other files stay. */
struct tw_outdir {
	char *place;     /* where the name leads, through symbolic links */
	char *temporary; /* where the files are to be written */
	bool inside;     /* the place was there */
	int lock;        /* descriptor of `temporary` */
};

/* Makes a directory for the files. Returns 0 or an errno; then there is nothing to close. */
int tw_outdir_open(struct tw_outdir *directory, const char *path);

/* Closes it and gives the files their place; those of the same names are replaced. last: the file without which the
 * others mean nothing, so that it comes last, and the old one goes first; NULL: none. Returns 0 or an errno; what has
 * no place by then is gone. */
int tw_outdir_keep(struct tw_outdir *directory, const char *last);

/* Closes it and removes its files. Fine after keep. */
void tw_outdir_drop(struct tw_outdir *directory);

/* The place of a file or directory: tw_outfile_place() without the slashes that may stand behind the name. To be freed;
 * NULL when there is no memory. */
char *tw_outdir_place(const char *path);

#endif
