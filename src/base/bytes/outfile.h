/* outfile.h - a file that appears under its name only when it is complete. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_OUTFILE_H
#define BASE_BYTES_OUTFILE_H

/* Until a regular file is complete it has no name at all, so that nothing stays behind when the program is killed.
 * Where the file system cannot do that, it has a name of begun.h beside its place: what is left under such a name, the
 * next program that writes to the place so removes. Devices and pipes are written in place. */
struct tw_outfile {
	int fd;
	char *place;     /* where the name leads, through symbolic links; NULL: written in place */
	char *temporary; /* its name until then, NULL while it has none */
};

/* Where a path leads; the last of its links may lead to what is not there yet. NULL and errno when it leads nowhere.
 * The caller frees it. */
char *tw_outfile_place(const char *path);

/* Opens a file to be written. One that is there keeps its permissions and is replaced when the new one is complete; a
 * symbolic link stays, and what it names is written. Returns 0 or an errno; then there is nothing to close. */
int tw_outfile_open(struct tw_outfile *file, const char *path);

/* The same for who opens it by a name, `temporary`, which it has at once. Devices and pipes are refused. */
int tw_outfile_open_named(struct tw_outfile *file, const char *path);

/* The same for a name that nobody has given: what is there must be a regular file, and no link is followed. */
int tw_outfile_open_here(struct tw_outfile *file, const char *path);

/* Closes it and gives it its name. Returns 0 or an errno; then the file is gone. */
int tw_outfile_keep(struct tw_outfile *file);

/* Closes the file and removes it. */
void tw_outfile_drop(struct tw_outfile *file);

#endif
