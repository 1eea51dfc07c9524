/* fibers.cpp - fibers of one thread, each a track of its own:
 *     c++ -std=c++11 fibers.cpp $(pkg-config --cflags --libs trackway-trace)
 *     TRACKWAY_TRACE=fibers.fxt ./a.out; trackway graph fibers.fxt */
#include <ucontext.h>

#include <string>
#include <vector>

#include <trackway/trace.h>

/* A scope of a fiber. TW_TRACE_DURATION would be one of the thread, which runs other fibers before it ends. */
class slice {
      public:
	slice(uint32_t track, const char *name) : track(track), name(name), begin(tw_trace_now())
	{
	}
	~slice()
	{
		tw_trace_write_at(track, begin, tw_trace_now(), TW_TRACE_KIND_COMPLETE, "fiber", name, 0, nullptr, 0);
	}
	slice(const slice &) = delete;
	slice &operator=(const slice &) = delete;

      private:
	uint32_t track;
	const char *name;
	uint64_t begin;
};

struct fiber {
	std::string name;
	uint32_t track;
	ucontext_t context;
	std::vector<char> stack;
	bool done;
};

static ucontext_t scheduler;
static fiber *running;

static void yield()
{
	fiber *self = running;
	tw_trace_write_at(self->track, tw_trace_now(), 0, TW_TRACE_KIND_INSTANT, "fiber", "yield", TW_SCOPE_THREAD,
	                  nullptr, 0);
	swapcontext(&self->context, &scheduler);
}

static void step(int depth)
{
	slice whole(running->track, depth ? "step" : "job");
	yield();
	if (depth < 2)
		step(depth + 1);
}

static void enter()
{
	step(0);
	running->done = true;
}

static void prepare(fiber &made, const std::string &name)
{
	made.name = name;
	made.track = tw_trace_track(name.c_str());
	made.stack.resize(1 << 16);
	made.done = false;
	getcontext(&made.context);
	made.context.uc_stack.ss_sp = made.stack.data();
	made.context.uc_stack.ss_size = made.stack.size();
	made.context.uc_link = &scheduler;
	makecontext(&made.context, enter, 0);
}

/* On the thread's own track: which fiber it runs. */
static void resume(fiber &next)
{
	TW_TRACE_DURATION("scheduler", "resume", TW_ARG("fiber", next.name));
	running = &next;
	swapcontext(&scheduler, &next.context);
}

int main()
{
	std::vector<fiber> fibers(3);
	for (size_t i = 0; i < fibers.size(); i++)
		prepare(fibers[i], "fiber " + std::to_string(i + 1));
	for (bool any = true; any;) {
		any = false;
		for (fiber &next : fibers)
			if (!next.done) {
				resume(next);
				any = true;
			}
	}
	return 0;
}
