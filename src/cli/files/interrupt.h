/* interrupt.h - a program that is ended by a signal removes the files it was writing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_INTERRUPT_H
#define CLI_FILES_INTERRUPT_H

/* From now on a signal that ends the program removes first what was begun (base/bytes/begun.h) for a file or directory,
 * or inside a directory. path: what was given to --output. Signals that are ignored stay so. */
void tw_clean_when_interrupted(const char *path);

#endif
