/* interrupt.h - a program that is ended by a signal removes the file it was writing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_INTERRUPT_H
#define CLI_FILES_INTERRUPT_H

/* From now on a signal that ends the program removes first what tw_outfile_open() has begun of a file, where that has a
 * name, or of files in a directory, and the directory if it is new and nothing is in it. path: what was given to
 * --output. Signals that are ignored stay so. */
void tw_clean_when_interrupted(const char *path);

#endif
