/* test_view_questions.c - questions that are ended, and how many there are at once; strangers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "view_scene.h"

#include "view/serve/strangers.h"

#include <trackway/analysis.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_uint answered;

static void *ask_without_end(void *context)
{
	const struct scene *scene = context;
	expect_text(scene,
	            "/api/sql?question=q-1&query=with+recursive+n(i)+as+(select+1+union+all+select+i%2B1+from+n)"
	            "+select+max(i)+from+n",
	            409, "{\"error\":\"interrupted\"}");
	atomic_fetch_add(&answered, 1);
	return NULL;
}

/* A question without an end is ended; one more that waits for it, too; and the next is answered. */
static void test_cancel(void **state)
{
	(void)state;
	struct scene scene;
	pthread_t first, second;
	show(&scene, trace);
	assert_int_equal(pthread_create(&first, NULL, ask_without_end, &scene), 0);
	assert_int_equal(pthread_create(&second, NULL, ask_without_end, &scene), 0);
	struct view_question_state about;
	while (!view_question_find(&scene.view->questions, "q-1", &about))
		sched_yield();
	assert_string_equal(about.asked, "sql");
	while (atomic_load(&answered) < 2) {
		struct view_answer answer;
		ask(&scene, "/api/cancel?question=q-1", &answer);
		assert_int_equal(answer.status, 200);
		view_answer_free(&answer);
		sched_yield();
	}
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	expect_text(&scene, "/api/sql?question=q-1&query=select+1", 200, "[[1]]");
	hide(&scene);
}

/* Reading ends where it is told to, be it by events or by calls. */
static void test_stop(void **state)
{
	(void)state;
	static const char *const files[] = {"/fxt/oneshot_all.fxt", "/xray/v5.xray", "/chrome/phases.json"};
	volatile int stop = 0;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		for (unsigned jobs = 1; jobs < 3; jobs++) {
			char path[512];
			struct tw_reader *reader;
			struct tw_batch batch;
			struct tw_profile *profile;
			const struct tw_read_options options = {.stop = &stop, .jobs = jobs};
			const struct tw_profile_options profiled = {.jobs = jobs};
			snprintf(path, sizeof path, "%s%s", getenv("TW_TEST_DATA"), files[i]);
			stop = 0;
			assert_int_equal(tw_open(&reader, path, &options), 0);
			assert_true(tw_read(reader, &batch) > 0);
			stop = 1;
			assert_int_equal(tw_read(reader, &batch), TW_ERR_LIMIT);
			assert_non_null(strstr(tw_reader_error(reader), "interrupted"));
			tw_close(reader);
			assert_int_equal(tw_open(&reader, path, &options), 0);
			assert_int_equal(tw_profile_new(&profile, &profiled), 0);
			assert_int_equal(tw_profile_add(profile, reader), TW_ERR_LIMIT);
			tw_profile_free(profile);
			tw_close(reader);
		}
}

/* Those of a name are ended together; SQL leaves places to others. */
static void test_places(void **state)
{
	(void)state;
	struct view_questions questions = {.wake = -1};
	struct view_question *asked[VIEW_QUESTIONS];
	view_questions_init(&questions);
	for (size_t i = 0; i < VIEW_QUESTIONS_OF_SQL; i++) {
		asked[i] = view_question_begin(&questions, "sql", "a", -1, VIEW_QUESTIONS_OF_SQL);
		assert_non_null(asked[i]);
	}
	assert_null(view_question_begin(&questions, "sql", "a", -1, VIEW_QUESTIONS_OF_SQL));
	for (size_t i = VIEW_QUESTIONS_OF_SQL; i < VIEW_QUESTIONS; i++) {
		asked[i] = view_question_begin(&questions, "stat", "b", -1, VIEW_QUESTIONS);
		assert_non_null(asked[i]);
	}
	assert_true(view_question_cancel(&questions, "a"));
	for (size_t i = 0; i < VIEW_QUESTIONS; i++)
		assert_int_equal(view_question_stops(asked[i]), i < VIEW_QUESTIONS_OF_SQL);
	for (size_t i = 0; i < VIEW_QUESTIONS; i++)
		view_question_end(&questions, asked[i]);
	view_questions_free(&questions);
}

static bool is_open(int socket)
{
	char byte;
	return recv(socket, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* Of strangers that are too many the oldest goes; one that has shown the cookie is none any more. */
static void test_strangers(void **state)
{
	(void)state;
	struct view_strangers strangers = {.count = 0};
	int ends[VIEW_STRANGERS + 2][2];
	pthread_mutex_init(&strangers.lock, NULL);
	for (size_t i = 0; i < VIEW_STRANGERS + 2; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
		view_strangers_add(&strangers, ends[i][0]);
		if (i == 0)
			view_strangers_remove(&strangers, ends[i][0]);
	}
	for (size_t i = 0; i < VIEW_STRANGERS + 2; i++)
		assert_int_equal(is_open(ends[i][1]), i != 1);
	for (size_t i = 0; i < VIEW_STRANGERS + 2; i++) {
		close(ends[i][0]);
		close(ends[i][1]);
	}
	pthread_mutex_destroy(&strangers.lock);
}

SUITE(view_questions)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cancel),
	    cmocka_unit_test(test_stop),
	    cmocka_unit_test(test_places),
	    cmocka_unit_test(test_strangers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
