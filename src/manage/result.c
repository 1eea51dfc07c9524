/* result.c - what has come of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "manage/manage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int manage_fail(struct manage_result *result, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(result->error, sizeof result->error, format, arguments);
	va_end(arguments);
	return -1;
}

void manage_free(struct manage_result *result)
{
	for (size_t i = 0; i < result->count; i++) {
		if (result->providers[i].talk >= 0)
			close(result->providers[i].talk);
		if (result->providers[i].image >= 0)
			close(result->providers[i].image);
	}
	if (result->sched_image >= 0)
		close(result->sched_image);
	free(result->providers);
	result->providers = NULL;
	result->count = 0;
}
