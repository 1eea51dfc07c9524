/* test_system_calls.c - what leads from system calls back to programs, as Linux does it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/system/calls.h"

#include "suite.h"

/* Of Linux for AArch64. */
enum { READ = 63, CLONE = 220, EXECVE = 221, CLONE3 = 435 };
enum { SVC = 0x400000, BEHIND = SVC + 4, HANDLER = 0x600000, LOOP = 0x500000, PROGRAM = 0x700000 };
enum { INTERRUPTED = -4, CALLS_MOST = 4096 };

static uint64_t task = 0x1000; /* of its own for each test */

static bool leaves(uint64_t by, uint64_t pc, int64_t x0)
{
	return system_calls_leave(by, pc, (uint64_t)x0);
}

static void returns_once(void **state)
{
	(void)state;
	task += 16;
	assert_false(leaves(task, BEHIND, 5));
	system_calls_enter(task, READ, BEHIND);
	assert_false(leaves(task + 1, BEHIND, 5));
	assert_true(leaves(task, BEHIND, 5));
	assert_false(leaves(task, BEHIND, 5));
}

/* The handler makes a call, too. It comes back behind the call that it came in, or to it. */
static void handles_signals(void **state)
{
	(void)state;
	for (int again = 0; again < 2; again++) {
		task += 16;
		system_calls_enter(task, READ, BEHIND);
		assert_true(leaves(task, HANDLER, 10));
		assert_false(leaves(task, HANDLER + 8, 0)); /* an interrupt */
		system_calls_enter(task, READ, HANDLER + 16);
		assert_true(leaves(task, HANDLER + 16, 1));
		assert_true(leaves(task, again ? SVC : BEHIND, again ? 3 : INTERRUPTED));
		assert_false(leaves(task, LOOP, 0));
		assert_false(leaves(task, BEHIND, 3));
	}
}

/* longjmp from within two handlers: calls since the one that returns do not. */
static void forgets_newer_calls(void **state)
{
	(void)state;
	task += 16;
	system_calls_enter(task, READ, BEHIND);
	assert_true(leaves(task, HANDLER, 10));
	system_calls_enter(task, READ, HANDLER + 16);
	assert_true(leaves(task, HANDLER, 10));
	assert_true(leaves(task, BEHIND, INTERRUPTED));
	assert_false(leaves(task, HANDLER + 16, 0));
}

/* The child first, or the parent. */
static void begins_children(void **state)
{
	static const int numbers[] = {CLONE, CLONE3};
	(void)state;
	for (int i = 0; i < 4; i++) {
		task += 16;
		system_calls_enter(task, (uint64_t)numbers[i / 2], BEHIND);
		if (i % 2)
			assert_true(leaves(task, BEHIND, 77));
		assert_false(leaves(task + 1, LOOP, 0));
		assert_false(leaves(task + 1, BEHIND, 1));
		assert_true(leaves(task + 1, BEHIND, 0));
		assert_false(leaves(task + 1, BEHIND, 0));
		assert_false(leaves(task + 2, BEHIND, 0));
		assert_int_equal(leaves(task, BEHIND, 77), i % 2 == 0);
	}
}

static void has_no_child_of_an_error(void **state)
{
	static const int64_t errors[] = {-1, -11, -4095};
	(void)state;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		task += 16;
		system_calls_enter(task, CLONE, BEHIND);
		assert_true(leaves(task, BEHIND, errors[i]));
		assert_false(leaves(task + 1, BEHIND, 0));
	}
}

/* A task was killed while it waited, and a child is where Linux had it. */
static void begins_a_child_with_nothing(void **state)
{
	(void)state;
	task += 16;
	system_calls_enter(task + 1, READ, HANDLER);
	system_calls_enter(task, CLONE, BEHIND);
	assert_true(leaves(task + 1, BEHIND, 0));
	assert_false(leaves(task + 1, LOOP, 0));
	assert_false(leaves(task + 1, HANDLER, 0));
}

static void executes_programs(void **state)
{
	(void)state;
	task += 16;
	system_calls_enter(task, EXECVE, BEHIND);
	assert_true(leaves(task, BEHIND, -2)); /* there is none */
	system_calls_enter(task, EXECVE, BEHIND);
	assert_true(leaves(task, PROGRAM, 0));
	assert_false(leaves(task, PROGRAM, 0)); /* its page was not there */
	assert_false(leaves(task, BEHIND, 0));
}

static void forgets_the_oldest(void **state)
{
	(void)state;
	task += 16;
	for (uint64_t i = 0; i <= CALLS_MOST; i++)
		system_calls_enter(task + i, READ, BEHIND);
	assert_false(leaves(task, BEHIND, 0));
	for (uint64_t i = 1; i <= CALLS_MOST; i++)
		assert_true(leaves(task + i, BEHIND, 0));
}

SUITE(system_calls)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(returns_once),
	    cmocka_unit_test(handles_signals),
	    cmocka_unit_test(forgets_newer_calls),
	    cmocka_unit_test(begins_children),
	    cmocka_unit_test(has_no_child_of_an_error),
	    cmocka_unit_test(begins_a_child_with_nothing),
	    cmocka_unit_test(executes_programs),
	    cmocka_unit_test(forgets_the_oldest),
	};
	return cmocka_run_group_tests_name("system_calls", tests, NULL, NULL);
}
