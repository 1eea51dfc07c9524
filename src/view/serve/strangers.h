/* strangers.h - connections that have not shown the cookie yet: they are few, however many come. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_STRANGERS_H
#define VIEW_SERVE_STRANGERS_H

#include <pthread.h>
#include <stddef.h>

enum { VIEW_STRANGERS = 64 };

/* Their sockets, the oldest first. All zero but for the lock there are none. */
struct view_strangers {
	pthread_mutex_t lock;
	int sockets[VIEW_STRANGERS];
	size_t count;
};

/* Takes one more. Where there are too many the oldest is shut down: whoever says nothing, or a byte a second, keeps
 * nobody else out. */
void view_strangers_add(struct view_strangers *strangers, int socket);

/* It has shown the cookie, or is about to be closed. */
void view_strangers_remove(struct view_strangers *strangers, int socket);

#endif
