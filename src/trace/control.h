/* control.h - what a program and a manager say to each other: doc/recording.md tells the protocol. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_CONTROL_H
#define TRACE_CONTROL_H

#include <stddef.h>
#include <sys/types.h>

/* Packets of a SOCK_SEQPACKET: a word, and a text behind a space; terminated where they are held. */
enum { CONTROL_VERSION = 1, CONTROL_TEXT = 4096 };

/* Bytes that names of categories may have in a setting, with what stands between them. */
enum { CONTROL_CATEGORIES = 1022 };

/* Bytes of an alert's name that are told. */
enum { CONTROL_ALERT = 64 };

/* The variable that names the socket of the manager that has started a program. */
#define CONTROL_MANAGER "TRACKWAY_TRACE_MANAGER"

/* In the directory of sockets: a link to the socket of the manager that gathers all programs, where there is one. */
#define CONTROL_GATHERER "gatherer"

/* What a program that has found it there says behind its greeting. */
#define CONTROL_UNASKED " unasked"

/* Where programs of a user have their sockets, each by the number of its process. Returns 0, or -1 where it does not
 * fit. */
int control_directory(char *path, size_t room, uid_t user);

/* Whether a path is a directory of this user, which nobody else may look into. */
int control_private(const char *directory);

/* Sends a packet, and a descriptor where it is none of -1. Never waits. Returns 0 or -1. */
int control_send(int socket, const char *text, int fd);

/* Takes a packet, terminated, and a descriptor in *fd, -1 where there is none. Returns its length, 0 at the end, or -1
 * and errno. */
ssize_t control_receive(int socket, char text[static CONTROL_TEXT], int *fd);

/* Whether the other side is of this user, or of root. */
int control_trusted(int socket);

/* Connects to a socket, for at most a time in ms. Returns a descriptor, or -1 and errno. */
int control_connect(const char *path);

/* Returns what follows a word at the beginning of a packet, "" where nothing does; NULL where it is another word. */
const char *control_after(const char *text, const char *word);

#endif
