/* question.c - questions for which a trace is read again: told apart by name, and each can be ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/question.h"

#include "core/tool.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

int64_t view_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void stop(struct view_question *question)
{
	__atomic_store_n(&question->stop, 1, __ATOMIC_RELAXED);
}

/* ---- Who asks. ---- */

static void wake(struct view_questions *questions)
{
	const uint64_t one = 1;
	if (questions->wake >= 0)
		(void)!write(questions->wake, &one, sizeof one);
}

/* What is polled: the way to be woken, and the sockets of questions, by their numbers. */
struct watched {
	struct pollfd polled[VIEW_QUESTIONS + 1];
	uint64_t numbers[VIEW_QUESTIONS + 1];
	nfds_t count;
};

/* False: it is over. */
static bool take_watched(struct view_questions *questions, struct watched *watched)
{
	pthread_mutex_lock(&questions->lock);
	watched->polled[0] = (struct pollfd){.fd = questions->wake, .events = POLLIN};
	watched->count = 1;
	for (size_t i = 0; i < VIEW_QUESTIONS; i++) {
		const struct view_question *question = &questions->items[i];
		if (!question->asked || question->socket < 0 || view_question_stops(question))
			continue;
		watched->numbers[watched->count] = question->number;
		watched->polled[watched->count++] = (struct pollfd){.fd = question->socket, .events = POLLRDHUP};
	}
	bool over = questions->over;
	pthread_mutex_unlock(&questions->lock);
	return !over;
}

/* A socket may be another one's by now: the number tells. */
static void end_numbered(struct view_questions *questions, uint64_t number)
{
	pthread_mutex_lock(&questions->lock);
	for (size_t i = 0; i < VIEW_QUESTIONS; i++)
		if (questions->items[i].asked && questions->items[i].number == number)
			stop(&questions->items[i]);
	pthread_mutex_unlock(&questions->lock);
}

static void *watch(void *context)
{
	struct view_questions *questions = context;
	struct watched watched;
	uint64_t woken;
	while (take_watched(questions, &watched)) {
		if (poll(watched.polled, watched.count, -1) < 0)
			continue;
		if (watched.polled[0].revents)
			(void)!read(questions->wake, &woken, sizeof woken);
		for (nfds_t i = 1; i < watched.count; i++)
			if (watched.polled[i].revents)
				end_numbered(questions, watched.numbers[i]);
	}
	return NULL;
}

int view_questions_watch(struct view_questions *questions)
{
	questions->wake = eventfd(0, EFD_CLOEXEC);
	int error = questions->wake < 0 ? errno : pthread_create(&questions->watcher, NULL, watch, questions);
	if (error && questions->wake >= 0) {
		close(questions->wake);
		questions->wake = -1;
	}
	return error;
}

/* ---- Beginning and end. ---- */

void view_questions_init(struct view_questions *questions)
{
	pthread_mutex_init(&questions->lock, NULL);
	questions->wake = -1;
}

void view_questions_stop(struct view_questions *questions)
{
	pthread_mutex_lock(&questions->lock);
	questions->over = true;
	for (size_t i = 0; i < VIEW_QUESTIONS; i++)
		stop(&questions->items[i]);
	wake(questions);
	pthread_mutex_unlock(&questions->lock);
}

bool view_questions_are_over(struct view_questions *questions, int socket)
{
	struct pollfd asker = {.fd = socket > 0 ? socket : -1, .events = POLLRDHUP};
	pthread_mutex_lock(&questions->lock);
	const bool over = questions->over;
	pthread_mutex_unlock(&questions->lock);
	return over || poll(&asker, 1, 0) > 0;
}

void view_questions_free(struct view_questions *questions)
{
	view_questions_stop(questions);
	if (questions->wake >= 0) {
		pthread_join(questions->watcher, NULL);
		close(questions->wake);
	}
	pthread_mutex_destroy(&questions->lock);
}

bool view_question_is_name(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
	size_t length = strlen(name);
	return length > 0 && length <= VIEW_QUESTION_NAME && strspn(name, allowed) == length;
}

struct view_question *view_question_begin(struct view_questions *questions, const char *asked, const char *name,
                                          int socket, size_t places)
{
	struct view_question *question = NULL;
	pthread_mutex_lock(&questions->lock);
	for (size_t i = 0; i < places && !question && !questions->over; i++)
		if (!questions->items[i].asked)
			question = &questions->items[i];
	if (question) {
		*question = (struct view_question){.asked = asked,
		                                   .number = ++questions->count,
		                                   .since = view_now(),
		                                   .socket = socket};
		if (name)
			memcpy(question->name, name, strlen(name));
		wake(questions);
	}
	pthread_mutex_unlock(&questions->lock);
	return question;
}

void view_question_end(struct view_questions *questions, struct view_question *question)
{
	pthread_mutex_lock(&questions->lock);
	question->asked = NULL;
	wake(questions);
	pthread_mutex_unlock(&questions->lock);
}

void view_question_reads(struct view_questions *questions, struct view_question *question,
                         const struct tw_reader *reader)
{
	pthread_mutex_lock(&questions->lock);
	question->reader = reader;
	pthread_mutex_unlock(&questions->lock);
}

/* ---- By name. ---- */

static bool is_named(const struct view_question *question, const char *name)
{
	return question->asked && strcmp(question->name, name) == 0;
}

static const struct view_question *named(const struct view_questions *questions, const char *name)
{
	for (size_t i = 0; i < VIEW_QUESTIONS; i++)
		if (is_named(&questions->items[i], name))
			return &questions->items[i];
	return NULL;
}

bool view_question_find(struct view_questions *questions, const char *name, struct view_question_state *state)
{
	*state = (struct view_question_state){0};
	pthread_mutex_lock(&questions->lock);
	const struct view_question *question = named(questions, name);
	if (question) {
		state->asked = question->asked;
		state->elapsed = (uint64_t)(view_now() - question->since);
		if (question->reader)
			tw_reader_progress(question->reader, &state->read, &state->size);
	}
	pthread_mutex_unlock(&questions->lock);
	return question != NULL;
}

void view_questions_list(struct view_questions *questions, char *text, size_t size)
{
	enum { SECOND = 1000000000 };
	size_t length = 0;
	*text = '\0';
	pthread_mutex_lock(&questions->lock);
	for (size_t i = 0; i < VIEW_QUESTIONS && length < size; i++) {
		const struct view_question *question = &questions->items[i];
		if (question->asked)
			length += (size_t)snprintf(text + length, size - length, "%s%s for %lld s", length ? ", " : "",
			                           question->asked, (long long)(view_now() - question->since) / SECOND);
	}
	pthread_mutex_unlock(&questions->lock);
}

bool view_question_cancel(struct view_questions *questions, const char *name)
{
	bool found = false;
	pthread_mutex_lock(&questions->lock);
	for (size_t i = 0; i < VIEW_QUESTIONS; i++)
		if (is_named(&questions->items[i], name)) {
			stop(&questions->items[i]);
			found = true;
		}
	pthread_mutex_unlock(&questions->lock);
	return found;
}
