/* plan.c - which parts of a thread are recorded, and when it comes to one of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/windows/plan.h"

/* All calls are wanted two blocks of QEMU's, of at most 512 instructions, before they are needed. */
enum { LEAD = 1024 };

/* The next window of a thread: where it begins, and its warm-up. */
struct upcoming {
	struct collect_window *window; /* NULL: there is none */
	uint64_t from, start;
};

static uint64_t before(uint64_t count, uint64_t distance)
{
	return count < distance ? 0 : count - distance;
}

static struct upcoming upcoming_at(const struct plan *plan, struct collect_windows *windows)
{
	uint64_t most = windows->every ? UINT64_MAX : windows->count;
	if (plan->next >= most)
		return (struct upcoming){.from = UINT64_MAX, .start = UINT64_MAX};
	struct collect_window *window = &windows->items[windows->every ? 0 : plan->next];
	uint64_t from = window->from + plan->next * windows->every;
	return (struct upcoming){window, from, before(from, windows->warm_up)};
}

static bool is_of(const struct collect_window *window, const struct plan *plan)
{
	return window->thread == UINT32_MAX ? plan->leads : window->thread == plan->thread;
}

static struct upcoming find_next(struct plan *plan, struct collect_windows *windows)
{
	struct upcoming found = upcoming_at(plan, windows);
	for (; found.window && !is_of(found.window, plan); found = upcoming_at(plan, windows))
		plan->next++;
	return found;
}

bool plan_begins_at_once(const struct collect_windows *windows, uint32_t thread)
{
	const struct plan plan = {.thread = thread, .leads = true};
	for (uint32_t i = 0; i < windows->count; i++)
		if (is_of(&windows->items[i], &plan) && before(windows->items[i].from, windows->warm_up) <= LEAD)
			return true;
	return windows->count == 0;
}

struct plan plan_begin(struct collect_windows *windows)
{
	if (!windows->count)
		return (struct plan){.event = UINT64_MAX};
	return (struct plan){.thread = atomic_fetch_add(&windows->threads, 1), .leads = true};
}

struct plan plan_of_core(const struct collect_windows *windows, uint32_t core, bool leads)
{
	bool has_none = windows->every && !leads;
	return (struct plan){.thread = core, .leads = leads, .event = has_none ? UINT64_MAX : 0};
}

bool plan_may_wait(struct plan *plan, struct collect_windows *windows, uint64_t count)
{
	enum { PATIENCE = 100 };
	const struct upcoming next = find_next(plan, windows);
	return next.window && next.start <= count && count - next.start < next.window->length / PATIENCE;
}

static uint64_t event_of(const struct plan *plan, const struct upcoming *next)
{
	uint64_t coming = plan->warm ? next->from : next->start;
	if (plan->until)
		return plan->until < coming ? plan->until : coming;
	return plan->wants || !next->window ? coming : before(coming, LEAD);
}

static enum plan_step begin(struct plan *plan)
{
	if (!plan->until) {
		plan->until = UINT64_MAX;
		return PLAN_BEGIN;
	}
	plan->warm = true;
	return PLAN_WARM;
}

/* The window itself: as long as it is to be from here on, and one more, where a slice stops; or what was recorded
 * already goes on beyond it. */
static enum plan_step mark(struct plan *plan, const struct collect_window *window, uint64_t count)
{
	uint64_t until = count + window->length + 1;
	plan->until = plan->until == UINT64_MAX || plan->until < until ? until : plan->until;
	plan->warm = false;
	plan->next++;
	return PLAN_MARK;
}

enum plan_step plan_step(struct plan *plan, struct collect_windows *windows, uint64_t count, bool full,
                         struct collect_window **window, uint64_t *number)
{
	const struct upcoming next = find_next(plan, windows);
	bool near = next.window && before(next.start, LEAD) <= count;
	*window = next.window;
	*number = plan->next;
	if (plan->warm && next.window && next.from <= count)
		return mark(plan, next.window, count);
	if (next.window && next.start <= count && !plan->warm && (plan->until || (plan->wants && full)))
		return begin(plan);
	if (plan->until && count >= plan->until && !plan->warm) {
		plan->until = 0;
		return PLAN_END;
	}
	if (!plan->until && plan->wants != near) {
		plan->wants = near;
		return near ? PLAN_WANT : PLAN_RELEASE;
	}
	plan->event = event_of(plan, &next);
	return PLAN_GO_ON;
}
