/* gen_fxt.c - makes FXT archives of any size, for measuring: the same seed gives the same bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "gen.h"

enum {
	PROVIDERS = 2,
	CATEGORIES = 12,
	DEPTH = 24,     /* of slices, at most */
	OPEN = 16,      /* async operations and flows, at most */
	MOST = 8,       /* words of a record that steps write */
	ROOM = 1 << 20, /* bytes between writes to the file */
	UNIT = 1 << 16, /* sections have 1 to 64 of these bytes */
	THREADS_A_PROCESS = 3,
	CPUS = 8
};

enum record_type { METADATA, INITIALIZATION, STRING, THREAD, EVENT, KERNEL_OBJECT = 7, SCHEDULING };

enum event_type {
	INSTANT,
	COUNTER,
	BEGIN,
	END,
	COMPLETE,
	ASYNC_BEGIN,
	ASYNC_INSTANT,
	ASYNC_END,
	FLOW_BEGIN,
	FLOW_STEP,
	FLOW_END
};

static const uint64_t hertz = 2400000000;

struct options {
	uint64_t size, threads, names, seed;
	bool sorted, by_thread;
	const char *output;
};

struct thread {
	uint64_t koid, process;
	uint8_t reference;
	struct {
		uint64_t begin;
		uint16_t name;
		bool complete; /* one record at its end, not one at each */
	} stack[DEPTH];
	unsigned depth;
};

/* Operations that go from thread to thread, the oldest at `first`. */
struct ring {
	struct {
		uint64_t id;
		const struct thread *thread; /* that it began on */
		uint16_t name;
	} open[OPEN];
	unsigned first, count;
};

struct provider {
	uint64_t clock, left; /* bytes of its section */
	uint64_t begin;       /* of its clock */
	struct thread *threads;
	uint32_t count, running;
	struct ring asyncs, flows;
};

struct generator {
	struct options options;
	FILE *file;
	uint64_t written, random, ids;
	struct provider providers[PROVIDERS], *now;
	size_t used;
	uint8_t buffer[ROOM];
};

static uint32_t draw(struct generator *g, uint32_t below)
{
	return gen_draw(&g->random, below);
}

/* ---- Words. ---- */

static void flush(struct generator *g)
{
	fwrite(g->buffer, 1, g->used, g->file);
	g->used = 0;
}

static void put_words(struct generator *g, const uint64_t *words, size_t count)
{
	if (g->used + 8 * count > sizeof g->buffer)
		flush(g);
	uint8_t *at = g->buffer + g->used;
	for (size_t i = 0; i < count; i++, at += 8)
		for (unsigned k = 0; k < 8; k++)
			at[k] = (uint8_t)(words[i] >> (8 * k));
	g->used += 8 * count;
	g->written += 8 * count;
}

/* Puts text behind the words; returns how many words it takes. */
static size_t set_text(uint64_t *words, const char *text, size_t length)
{
	size_t count = (length + 7) / 8;
	memset(words, 0, 8 * count);
	for (size_t i = 0; i < length; i++)
		words[i / 8] |= (uint64_t)(uint8_t)text[i] << (8 * (i % 8));
	return count;
}

/* A record of a type: its first word gets type and size. */
static void put_record(struct generator *g, enum record_type type, uint64_t *words, size_t count)
{
	words[0] |= (uint64_t)type | (uint64_t)count << 4;
	put_words(g, words, count);
}

/* ---- Arguments. ---- */

static uint64_t name_of(struct generator *g)
{
	/* Low numbers are drawn more often. */
	uint32_t names = (uint32_t)g->options.names;
	return 1 + CATEGORIES + (uint64_t)draw(g, names) * draw(g, names) / names;
}

/* One argument of any type but null and blob; returns its words, two or three at most. */
static size_t set_argument(struct generator *g, uint64_t *words, bool number)
{
	static const uint8_t types[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}; /* the last four are no numbers */
	uint64_t type = types[draw(g, number ? 5 : sizeof types)];
	uint64_t low = draw(g, UINT32_MAX), header = type | name_of(g) << 16;
	if (type == 1 || type == 2) {
		words[0] = header | 1 << 4 | low << 32;
		return 1;
	}
	if (type == 9) {
		words[0] = header | 1 << 4 | (low & 1) << 32;
		return 1;
	}
	if (type == 6) {
		bool in_record = !draw(g, 4);
		words[0] = header | (in_record ? UINT64_C(0x8008) : name_of(g)) << 32;
		words[1] = UINT64_C(0x6161616161616161) + (low & UINT32_C(0x0f0f0f0f));
		words[0] |= UINT64_C(1) << 4 << in_record;
		return 1 + in_record;
	}
	double value = (double)low / 1000;
	words[0] = header | 2 << 4;
	words[1] = type == 8 ? 1000 + low % 100 : (uint64_t)low << 16;
	if (type == 5)
		memcpy(&words[1], &value, sizeof value);
	return 2;
}

/* Up to three arguments in up to five words; returns their words. */
static size_t set_arguments(struct generator *g, uint64_t *words, unsigned *count, bool numbers)
{
	size_t used = 0;
	unsigned most = 1 + draw(g, 3);
	for (*count = 0; *count < most && used <= 3; ++*count)
		used += set_argument(g, words + used, numbers);
	return used;
}

/* ---- Events. ---- */

static bool has_last_word(enum event_type type)
{
	return type == COUNTER || type >= COMPLETE;
}

static void put_event(struct generator *g, const struct thread *thread, enum event_type type, uint64_t time,
                      uint16_t name, uint64_t last)
{
	uint64_t words[MOST], category = 1 + name % CATEGORIES;
	unsigned arguments = 0;
	size_t used = 2;
	words[1] = time;
	if (type == COUNTER || !draw(g, 16))
		used += set_arguments(g, words + used, &arguments, type == COUNTER);
	if (has_last_word(type) || (type == INSTANT && last))
		words[used++] = last;
	words[0] = (uint64_t)type << 16 | (uint64_t)arguments << 20 | (uint64_t)thread->reference << 24 |
	           category << 32 | (uint64_t)name << 48;
	put_record(g, EVENT, words, used);
}

/* Most steps are short, a few long. */
static uint64_t advance(struct generator *g)
{
	g->now->clock += 40 + draw(g, 1200);
	if (!draw(g, 64))
		g->now->clock += draw(g, 60000);
	return g->now->clock;
}

static void open_slice(struct generator *g, struct thread *thread)
{
	uint16_t name = (uint16_t)name_of(g);
	if (thread->depth && draw(g, 4)) { /* programs are structured: a slice is often followed by the same ones */
		uint32_t outer = thread->stack[thread->depth - 1].name;
		name = (uint16_t)(1 + CATEGORIES + (outer * 7 + draw(g, 3)) % g->options.names);
	}
	unsigned depth = thread->depth++;
	thread->stack[depth].name = name;
	thread->stack[depth].begin = advance(g);
	thread->stack[depth].complete = !g->options.sorted && !g->options.by_thread && draw(g, 2);
	if (!thread->stack[depth].complete)
		put_event(g, thread, BEGIN, thread->stack[depth].begin, name, 0);
}

static void close_slice(struct generator *g, struct thread *thread)
{
	unsigned depth = --thread->depth;
	uint64_t begin = thread->stack[depth].begin, end = advance(g);
	bool complete = thread->stack[depth].complete;
	put_event(g, thread, complete ? COMPLETE : END, complete ? begin : end, thread->stack[depth].name, end);
}

/* Begins, goes on with or ends one of the operations of a ring; the types follow one another. */
static void go_on(struct generator *g, struct ring *ring, const struct thread *thread, enum event_type begin)
{
	uint32_t way = draw(g, 3);
	if (ring->count == 0 || (way == 0 && ring->count < OPEN)) {
		unsigned place = (ring->first + ring->count++) % OPEN;
		ring->open[place].id = ++g->ids;
		ring->open[place].name = (uint16_t)name_of(g);
		ring->open[place].thread = thread;
		put_event(g, thread, begin, advance(g), ring->open[place].name, g->ids);
		return;
	}
	unsigned place = ring->first;
	if (way != 1) {
		ring->first = (ring->first + 1) % OPEN;
		ring->count--;
	}
	/* Ids of asynchronous operations are those of one process. */
	thread = begin == ASYNC_BEGIN ? ring->open[place].thread : thread;
	put_event(g, thread, way == 1 ? begin + 1 : begin + 2, advance(g), ring->open[place].name,
	          ring->open[place].id);
}

/* The running thread leaves, another comes; sometimes one is woken. */
static void put_switch(struct generator *g)
{
	struct provider *provider = g->now;
	uint64_t cpu = draw(g, CPUS), out = provider->threads[provider->running].koid;
	uint32_t next = draw(g, provider->count);
	uint64_t in = provider->threads[next].koid, time = advance(g);
	if (!draw(g, 3))
		put_record(g, SCHEDULING, (uint64_t[]){UINT64_C(2) << 60 | cpu << 20, time, in}, 3);
	put_record(g, SCHEDULING, (uint64_t[]){UINT64_C(1) << 60 | UINT64_C(3) << 36 | cpu << 20, time, out, in}, 4);
	provider->running = next;
}

static void put_slice(struct generator *g, struct thread *thread)
{
	if (thread->depth == 0 || (thread->depth < DEPTH && draw(g, 100) < 50))
		open_slice(g, thread);
	else
		close_slice(g, thread);
}

static void step(struct generator *g)
{
	struct provider *provider = g->now;
	struct thread *thread = &provider->threads[provider->running];
	uint32_t what = draw(g, 100);
	if (what < 82)
		put_slice(g, thread);
	else if (what < 86)
		put_event(g, thread, INSTANT, advance(g), (uint16_t)name_of(g), draw(g, 3));
	else if (what < 89)
		put_event(g, thread, COUNTER, advance(g), (uint16_t)name_of(g), draw(g, 4));
	else if (what < 93)
		go_on(g, &provider->asyncs, thread, ASYNC_BEGIN);
	else if (what < 96)
		go_on(g, &provider->flows, thread, FLOW_BEGIN);
	else if (!g->options.by_thread)
		put_switch(g);
}

/* ---- Sections. ---- */

/* Ends complete slices with their section: so their records are not later than that. */
static void settle(struct generator *g, struct thread *thread)
{
	unsigned depth = 0;
	while (depth < thread->depth && !thread->stack[depth].complete)
		depth++;
	while (thread->depth > depth)
		close_slice(g, thread);
}

static void put_section(struct generator *g, uint64_t most)
{
	uint64_t id = (uint64_t)(g->now - g->providers) + 1;
	uint64_t end = g->written + (uint64_t)UNIT * (1 + draw(g, 64));
	put_record(g, METADATA, (uint64_t[]){UINT64_C(2) << 16 | id << 20}, 1);
	while (g->written < end && g->written < most)
		step(g);
	for (uint32_t i = 0; i < g->now->count; i++)
		settle(g, &g->now->threads[i]);
}

/* Ends all that is open on a thread, and has the next of its provider run from the beginning of the clock on. */
static void leave_thread(struct generator *g)
{
	struct provider *provider = g->now;
	while (provider->threads[provider->running].depth)
		close_slice(g, &provider->threads[provider->running]);
	provider->running = (provider->running + 1) % provider->count;
	provider->asyncs = provider->flows = (struct ring){0};
	provider->clock = provider->begin;
}

/* All records of a thread, then those of the next. */
static void put_threads(struct generator *g)
{
	const uint64_t first = g->written, size = g->options.size - first;
	uint32_t done = 0;
	for (size_t p = 0; p < PROVIDERS; p++) {
		g->now = &g->providers[p];
		for (uint32_t i = 0; i < g->now->count; i++) {
			const uint64_t end = first + size * ++done / g->options.threads;
			while (g->written < end)
				put_section(g, end);
			leave_thread(g);
		}
	}
}

/* The provider whose last section ended first. Sorted, one clock is for all, and they take turns. */
static struct provider *next_provider(struct generator *g)
{
	struct provider *other = &g->providers[g->now == g->providers];
	if (g->options.sorted)
		other->clock = g->now->clock;
	return other->clock <= g->now->clock ? other : g->now;
}

/* ---- What comes first. ---- */

static void put_string(struct generator *g, uint64_t index, const char *text)
{
	uint64_t words[16], length = strlen(text);
	words[0] = index << 16 | length << 32;
	put_record(g, STRING, words, 1 + set_text(words + 1, text, length));
}

static void put_object(struct generator *g, uint64_t type, uint64_t koid, const char *name, uint64_t process)
{
	uint64_t words[16], length = strlen(name);
	words[0] = type << 16 | (0x8000 | length) << 24 | (uint64_t)(process != 0) << 40;
	words[1] = koid;
	size_t used = 2 + set_text(words + 2, name, length);
	if (process) {
		words[used++] = 8 | 3 << 4 | UINT64_C(0x8007) << 16;
		used += set_text(words + used, "process", 7);
		words[used++] = process;
	}
	put_record(g, KERNEL_OBJECT, words, used);
}

static void put_thread(struct generator *g, const struct thread *thread)
{
	char name[32];
	if (thread->reference % THREADS_A_PROCESS == 1) {
		snprintf(name, sizeof name, "process-%u", (unsigned)thread->process);
		put_object(g, 1, thread->process, name, 0);
	}
	snprintf(name, sizeof name, "worker-%u", (unsigned)thread->koid);
	put_object(g, 2, thread->koid, name, thread->process);
	put_record(g, THREAD, (uint64_t[]){(uint64_t)thread->reference << 16, thread->process, thread->koid}, 3);
}

/* Information, ticks, strings and threads of a provider. Each has its own tables. */
static void put_provider(struct generator *g, uint64_t id)
{
	struct provider *provider = &g->providers[id - 1];
	uint64_t words[4] = {UINT64_C(1) << 16 | id << 20 | UINT64_C(10) << 52};
	char text[64];
	snprintf(text, sizeof text, "provider-%u", (unsigned)id);
	put_record(g, METADATA, words, 1 + set_text(words + 1, text, 10));
	put_record(g, INITIALIZATION, (uint64_t[]){0, hertz}, 2);
	for (uint32_t i = 1; i <= CATEGORIES + g->options.names; i++) {
		if (i <= CATEGORIES)
			snprintf(text, sizeof text, "category.%u", (unsigned)i);
		else
			snprintf(text, sizeof text, "%s::Part%u::operation_%u", i % 3 ? "engine" : "io", i % 17,
			         (unsigned)i);
		put_string(g, i, text);
	}
	for (uint32_t i = 0; i < provider->count; i++)
		put_thread(g, &provider->threads[i]);
}

static void make_providers(struct generator *g)
{
	uint32_t threads = (uint32_t)g->options.threads, made = 0;
	for (uint32_t p = 0; p < PROVIDERS; p++) {
		struct provider *provider = &g->providers[p];
		provider->count = p ? threads - threads / 2 : threads / 2;
		provider->begin = provider->clock = 1000 * hertz + 98765 * (uint64_t)p;
		provider->threads = gen_allocate(provider->count, sizeof *provider->threads);
		for (uint32_t i = 0; i < provider->count; i++)
			provider->threads[i] = (struct thread){
			    .koid = 100000 + made++,
			    .process = 1000 * (p + 1) + i / THREADS_A_PROCESS,
			    .reference = (uint8_t)(i + 1),
			};
	}
	g->now = g->providers;
}

static void put_archive(struct generator *g)
{
	put_words(g, (uint64_t[]){UINT64_C(0x0016547846040010)}, 1);
	for (uint64_t id = 1; id <= PROVIDERS; id++)
		put_provider(g, id);
	if (g->options.by_thread)
		put_threads(g);
	while (g->written < g->options.size) {
		put_section(g, g->options.size);
		g->now = next_provider(g);
	}
	flush(g);
}

/* ---- Setting up. ---- */

static const char usage[] =
    "usage: gen_fxt [--size BYTES] [--threads N] [--names N] [--sorted | --by-thread] [--seed N] FILE\n"
    "--sorted: slices are begin and end records only, and all records stand in the order of time\n"
    "--by-thread: all records of a thread, then those of the next, which begins as early; none of CPUs\n";

static void parse(int argc, char **argv, struct options *options)
{
	*options = (struct options){.size = 100000000, .threads = 8, .names = 500, .seed = 1};
	const struct gen_option names[] = {
	    {"size", .number = &options->size},
	    {"threads", .number = &options->threads},
	    {"names", .number = &options->names},
	    {"seed", .number = &options->seed},
	    {"sorted", .flag = &options->sorted},
	    {"by-thread", .flag = &options->by_thread},
	    {NULL},
	};
	options->output = gen_parse(argc, argv, names, usage);
	bool sane = options->threads >= 2 && options->threads <= 500 && options->names && options->names <= 30000 &&
	            options->size >= 1024;
	if (!sane)
		gen_usage(usage);
}

int main(int argc, char **argv)
{
	static struct generator g;
	parse(argc, argv, &g.options);
	g.random = g.options.seed;
	make_providers(&g);
	g.file = gen_open(g.options.output);
	put_archive(&g);
	for (unsigned p = 0; p < PROVIDERS; p++)
		free(g.providers[p].threads);
	return gen_close(g.file, g.options.output);
}
