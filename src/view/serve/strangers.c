/* strangers.c - connections that have not shown the cookie yet: they are few, however many come. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/strangers.h"

#include <string.h>
#include <sys/socket.h>

static void remove_at(struct view_strangers *strangers, size_t i)
{
	strangers->count--;
	memmove(&strangers->sockets[i], &strangers->sockets[i + 1],
	        (strangers->count - i) * sizeof *strangers->sockets);
}

void view_strangers_add(struct view_strangers *strangers, int socket)
{
	pthread_mutex_lock(&strangers->lock);
	if (strangers->count == VIEW_STRANGERS) {
		(void)shutdown(strangers->sockets[0], SHUT_RDWR); /* who serves it closes it */
		remove_at(strangers, 0);
	}
	strangers->sockets[strangers->count++] = socket;
	pthread_mutex_unlock(&strangers->lock);
}

void view_strangers_remove(struct view_strangers *strangers, int socket)
{
	pthread_mutex_lock(&strangers->lock);
	for (size_t i = strangers->count; i-- > 0;)
		if (strangers->sockets[i] == socket)
			remove_at(strangers, i);
	pthread_mutex_unlock(&strangers->lock);
}
