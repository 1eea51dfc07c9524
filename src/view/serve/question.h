/* question.h - questions for which a trace is read again: told apart by name, and each can be ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_QUESTION_H
#define VIEW_SERVE_QUESTION_H

#include <trackway/reader.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Those of people who ask in SQL leave some places to the page. */
enum { VIEW_QUESTIONS = 8, VIEW_QUESTIONS_OF_SQL = 6, VIEW_QUESTION_NAME = 64 };

struct view_question {
	const char *asked;                 /* "sql", a constant; NULL: the place is free */
	char name[VIEW_QUESTION_NAME + 1]; /* empty: none */
	uint64_t number;                   /* unlike that of all others */
	int64_t since;                     /* CLOCK_MONOTONIC, ns */
	int socket;                        /* of who asks; -1: it is not watched */
	volatile int stop;
	const struct tw_reader *reader; /* what is read; NULL: nothing just now */
};

struct view_questions {
	pthread_mutex_t lock;
	struct view_question items[VIEW_QUESTIONS];
	uint64_t count; /* of all that there were */
	bool over;      /* no more are taken */
	int wake;       /* eventfd: what is watched has changed; -1: nobody watches */
	pthread_t watcher;
};

/* Returns ns of a clock that is never set. */
int64_t view_now(void);

void view_questions_init(struct view_questions *questions);

/* Watches the sockets of those who ask from now on: a question whose connection is closed is ended. Returns 0 or an
 * errno. */
int view_questions_watch(struct view_questions *questions);

/* Ends all questions, and takes no more; and what is left once they have been answered. */
void view_questions_stop(struct view_questions *questions);
void view_questions_free(struct view_questions *questions);

/* Whether a text can be the name of a question. */
bool view_question_is_name(const char *name);

/* Begins a question, in one of the first places; name: NULL for none. NULL: there are too many. */
struct view_question *view_question_begin(struct view_questions *questions, const char *asked, const char *name,
                                          int socket, size_t places);
void view_question_end(struct view_questions *questions, struct view_question *question);

/* Says what is read for a question; NULL before that is closed. */
void view_question_reads(struct view_questions *questions, struct view_question *question,
                         const struct tw_reader *reader);

static inline bool view_question_stops(const struct view_question *question)
{
	return __atomic_load_n(&question->stop, __ATOMIC_RELAXED) != 0;
}

/* Whether nobody waits for an answer any more, be it no question: the server ends, or who asked has closed the
 * connection. socket: 0 where it is not known. */
bool view_questions_are_over(struct view_questions *questions, int socket);

/* How far a question is. False where there is none of this name. */
struct view_question_state {
	const char *asked;
	uint64_t elapsed, read, size; /* elapsed: ns; size 0: not known */
};
bool view_question_find(struct view_questions *questions, const char *name, struct view_question_state *state);

/* Writes what is being worked on, and since when: "sql for 12 s, stat for 1 s". */
void view_questions_list(struct view_questions *questions, char *text, size_t size);

/* Ends those of a name. False where there is none. */
bool view_question_cancel(struct view_questions *questions, const char *name);

#endif
