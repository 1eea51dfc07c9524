/* gen_tracelog.c - makes TraceLog logs of any size and dialect, for measuring: the same seed gives the same bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROOM = 1 << 20,    /* bytes between writes to the file */
	LONGEST = 1 << 16, /* bytes of a line, at most */
	MODULES = 40,
	LATE = 64, /* functions that wait for their name, at most */
	TICK = 10, /* ms */
	LIVE = 60, /* classes of a heap table, at most */
	CHAIN = 400,
	POINTS = 6, /* places in a function where samples find it */
	NONE = 0
};

enum dialect { D0, D1, D2, D3, VS };

struct options {
	uint64_t size, threads, functions, stacks, pointers, seed;
	enum dialect dialect;
	bool no_ip;
	const char *output;
};

struct function {
	uint32_t class, size; /* of code; 0: none */
	uint64_t start;
	bool known;
};

struct class {
	bool known, source;
};

/* A place in the tree of calls: a stack is the way to it. */
struct node {
	uint32_t parent, function, depth, child, sibling;
	uint32_t point; /* of its caller, where it is called */
};

struct thread {
	uint32_t iid, system, node, deep, waited;
	uint32_t point; /* where its innermost function is; POINTS: not known */
	uint64_t pointer;
};

struct late {
	uint32_t function, ticks;
};

struct generator {
	struct options options;
	FILE *file;
	uint64_t written, random;
	struct function *functions;
	struct class *classes;
	struct node *nodes;
	struct thread *threads;
	struct late late[LATE];
	uint32_t class_count, known_classes, ms, ticks, next_thread, free_nodes;
	size_t used;
	char buffer[ROOM + LONGEST];
};

static uint32_t draw(struct generator *g, uint64_t below)
{
	g->random = g->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(((g->random >> 32) * below) >> 32);
}

/* The same for the same numbers. */
static uint32_t mixed(uint64_t a, uint64_t b)
{
	uint64_t value = (a * UINT64_C(0x9e3779b97f4a7c15)) ^ ((b + 1) * UINT64_C(0xc2b2ae3d27d4eb4f));
	value ^= value >> 29;
	value *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(value >> 32);
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);
	if (!memory) {
		fputs("gen_tracelog: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

/* ---- Pieces of a line. ---- */

static void put_char(struct generator *g, char c)
{
	g->buffer[g->used++] = c;
}

static void put(struct generator *g, const char *text)
{
	size_t size = strlen(text);
	memcpy(g->buffer + g->used, text, size);
	g->used += size;
}

static void put_decimal(struct generator *g, uint64_t value)
{
	char digits[20];
	size_t count = 0;
	do
		digits[count++] = (char)('0' + value % 10);
	while (value /= 10);
	while (count)
		put_char(g, digits[--count]);
}

/* With at least `width` digits. */
static void put_digits(struct generator *g, uint64_t value, unsigned width, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	while (width < 16 && value >> (4 * width))
		width++;
	while (width)
		put_char(g, digits[value >> (4 * --width) & 15]);
}

static void put_pointer(struct generator *g, uint64_t value)
{
	put(g, " 0x");
	put_digits(g, value, (unsigned)g->options.pointers / 4, true);
}

/* An id of the profiler, a token or a status. */
static void put_id(struct generator *g, uint32_t value)
{
	put(g, " 0x");
	put_digits(g, value, 8, false);
}

static void put_number(struct generator *g, uint64_t value)
{
	put_char(g, ' ');
	put_decimal(g, value);
}

static void put_end(struct generator *g)
{
	put_char(g, '\n');
	if (g->used < ROOM)
		return;
	fwrite(g->buffer, 1, g->used, g->file);
	g->written += g->used;
	g->used = 0;
}

/* A thread of a jit or gch record. */
static void put_thread(struct generator *g, const struct thread *thread)
{
	if (g->options.dialect >= D3)
		put_number(g, thread->system);
	else
		put_id(g, thread->iid);
}

/* ---- Names. ---- */

static const char *const spaces[] = {"System.Collections.Generic", "System.Text", "Tizen.Applications", "Xamarin.Forms",
                                     "Newtonsoft.Json.Linq",       "ElmSharp",    "App.Model",          "System.Linq"};
static const char *const nouns[] = {"Dictionary", "Cache",    "Reader",  "Buffer", "Element", "Stream",
                                    "List",       "Renderer", "Handler", "Layout", "View",    "Token"};
static const char *const verbs[] = {"Read",   "Write",    "TryGetValue", "Insert", "Dispose",   ".ctor",
                                    "Render", "MoveNext", "get_Item",    "Parse",  "<Run>b__0", "Select"};
static const char *const types[] = {"void", "string", "int", "System.Object[]", "T", "System.Func<T, U>",
                                    "bool", "byte[]"};

enum {
	SPACES = sizeof spaces / sizeof *spaces,
	WORDS = sizeof nouns / sizeof *nouns,
	TYPES = sizeof types / sizeof *types
};

/* Every fourth is generic, every seventh an array of the one before, every ninth nested. */
static bool is_array(uint32_t class)
{
	return class % 7 == 6;
}

static void put_class_name(struct generator *g, uint32_t class)
{
	uint32_t number = is_array(class) ? class - 1 : class;
	put(g, spaces[number / WORDS % SPACES]);
	put_char(g, '.');
	put(g, nouns[mixed(number, 1) % WORDS]);
	put(g, nouns[number % WORDS]);
	put_decimal(g, number);
	if (number % 9 == 8)
		put(g, ".Enumerator");
	if (number % 4 == 3)
		put(g, number % 8 == 3 ? "<T=System.String, U=System.Int32>" : "<T=System.__Canon>");
	if (is_array(class))
		put(g, "[]");
}

static void put_function_name(struct generator *g, uint32_t number)
{
	const struct function *function = &g->functions[number];
	put(g, "fun nam");
	put_id(g, number);
	put(g, " \"");
	put_class_name(g, function->class);
	put(g, "::");
	put(g, verbs[number % WORDS]);
	if (number % 16 == 11)
		put(g, "<M=System.Int32>");
	put_char(g, '"');
	if (g->options.dialect > D0) {
		put(g, " \"");
		put(g, types[number % TYPES]);
		put(g, "\" \"(");
		for (uint32_t left = number % 4; left; left--) {
			put(g, types[1 + mixed(number, left) % (TYPES - 1)]);
			put(g, left > 1 ? ", " : "");
		}
		put(g, ")\"");
	}
	put_end(g);
}

/* ---- Classes and functions, told when they are first met. ---- */

static uint64_t high(const struct generator *g, uint64_t low)
{
	return g->options.pointers == 64 ? UINT64_C(0x7F0000000000) + low * 4 : low;
}

static uint64_t module_pointer(const struct generator *g, uint32_t module)
{
	return high(g, 0x10000000 + module * 0x1000);
}

static uint64_t class_pointer(const struct generator *g, uint32_t class)
{
	return is_array(class) ? 0 : high(g, 0x20000000 + class * 0x48);
}

static uint64_t function_pointer(const struct generator *g, uint32_t function)
{
	return high(g, 0x40000000 + function * 0x18);
}

static void tell_class(struct generator *g, uint32_t class)
{
	if (g->classes[class].known)
		return;
	g->classes[class].known = true;
	if (!is_array(class)) {
		put(g, "cls ldf");
		put_pointer(g, class_pointer(g, class));
		if (g->options.dialect > D0)
			put_id(g, class);
		put_pointer(g, module_pointer(g, class % MODULES));
		put_id(g, 0x02000002 + class);
		put_id(g, 0);
		put_end(g);
	}
	if (g->options.dialect == D0)
		return;
	put(g, "cls nam");
	put_id(g, class);
	put(g, " \"");
	put_class_name(g, class);
	put_char(g, '"');
	put_end(g);
}

static void put_hex(struct generator *g, const char *before, uint64_t value)
{
	put(g, before);
	put(g, "0x");
	put_digits(g, value, 1, false);
}

static void put_map(struct generator *g, uint64_t il, uint32_t begin, uint32_t end)
{
	put_hex(g, " ", il);
	put_hex(g, ":", begin);
	put_hex(g, ":", end);
}

static void put_code(struct generator *g, uint32_t number)
{
	const struct function *function = &g->functions[number];
	if (!function->size)
		return;
	put_pointer(g, function->start);
	put_hex(g, ":", function->size);
	if (mixed(number, 3) % 8 == 0)
		return;
	uint32_t count = 2 + mixed(number, 4) % 22, step = function->size / (count + 2);
	put_map(g, UINT32_C(0xfffffffe), 0, step);
	for (uint32_t i = 0; i < count; i++)
		put_map(g, 7 * i, (i + 1) * step, (i + 2) * step);
	put_map(g, UINT32_C(0xfffffffd), (count + 1) * step, function->size);
}

static bool is_cached(uint32_t function)
{
	return mixed(function, 2) % 3 == 0;
}

/* Where the words of a function's record stand differs. */
static void put_function(struct generator *g, uint32_t number)
{
	bool old = g->options.dialect < D2;
	put(g, !old ? "fun inf" : is_cached(number) ? "fun csf" : "fun cmf");
	if (!old)
		put_id(g, number);
	put_pointer(g, function_pointer(g, number));
	if (old)
		put_id(g, number);
	put_pointer(g, class_pointer(g, g->functions[number].class));
	put_pointer(g, module_pointer(g, g->functions[number].class % MODULES));
	put_id(g, 0x06000001 + number);
	if (old && !is_cached(number))
		put_id(g, 0);
	put_code(g, number);
	put_end(g);
}

static void put_compilation(struct generator *g, const struct thread *thread, uint32_t function, bool end)
{
	if (g->options.dialect < D2)
		return;
	bool cached = is_cached(function);
	put(g, cached ? (end ? "jit csf" : "jit css") : (end ? "jit cmf" : "jit cms"));
	put_thread(g, thread);
	put_number(g, g->ms);
	put_pointer(g, function_pointer(g, function));
	if (end && !cached)
		put_id(g, 0);
	put_end(g);
}

static uint32_t line_of(uint32_t function, uint32_t point)
{
	return function * POINTS + point + 1;
}

/* The source, as the adaptor of Visual Studio adds it. */
static void tell_lines(struct generator *g, uint32_t number)
{
	uint32_t class = g->functions[number].class;
	if (g->options.dialect != VS || !g->functions[number].size)
		return;
	if (!g->classes[class].source) {
		put(g, "fil src");
		put_id(g, class);
		put(g, " \"C:\\src\\App\\");
		put_class_name(g, class);
		put(g, ".cs\"");
		put_end(g);
	}
	g->classes[class].source = true;
	for (uint32_t point = 0; point < POINTS; point++) {
		put(g, "lin src");
		put_id(g, line_of(number, point));
		put_id(g, class);
		put_id(g, number);
		uint32_t line = 10 + mixed(number, 5) % 900 + point;
		for (int i = 0; i < 2; i++) {
			put_number(g, line);
			put_number(g, i ? 60 : 13);
		}
		put_end(g);
	}
}

/* Some names come late, a few never. */
static void name_function(struct generator *g, uint32_t number)
{
	struct late *late = &g->late[number % LATE];
	if (number > 8 && mixed(number, 6) % 500 == 0)
		return;
	if (mixed(number, 7) % 10 || late->ticks) {
		put_function_name(g, number);
		return;
	}
	*late = (struct late){.function = number, .ticks = 1 + number % 40};
}

static void tell_late_names(struct generator *g)
{
	for (struct late *late = g->late; late < g->late + LATE; late++)
		if (late->ticks && --late->ticks == 0)
			put_function_name(g, late->function);
}

static void tell_function(struct generator *g, const struct thread *thread, uint32_t number)
{
	if (g->functions[number].known)
		return;
	g->functions[number].known = true;
	tell_class(g, g->functions[number].class);
	put_compilation(g, thread, number, false);
	put_function(g, number);
	name_function(g, number);
	tell_lines(g, number);
	put_compilation(g, thread, number, true);
}

/* ---- Samples. ---- */

/* `point` of a function as a log has it; nothing where there is none. */
static void put_ip(struct generator *g, uint32_t function, uint32_t point, bool must)
{
	const struct function *f = &g->functions[function];
	bool known = f->size && point < POINTS;
	if (g->options.no_ip || (!known && !must))
		return;
	put_char(g, ':');
	if (!known) {
		put_char(g, '?');
		return;
	}
	uint64_t ip = f->start + (uint64_t)(point + 1) * (f->size / (POINTS + 2));
	if (g->options.dialect >= D2)
		put(g, "0x");
	bool padded = g->options.dialect == D2 || g->options.dialect == D3;
	unsigned width = padded ? (unsigned)g->options.pointers / 4 : 1;
	put_digits(g, g->options.dialect == VS ? line_of(function, point) : ip, width, true);
}

/* A child of a place, the first ones more often; NONE where there is none. */
static uint32_t draw_child(struct generator *g, uint32_t node)
{
	uint32_t child = g->nodes[node].child;
	while (child && g->nodes[child].sibling && draw(g, 3))
		child = g->nodes[child].sibling;
	return child;
}

static uint32_t some(struct generator *g, uint32_t most)
{
	uint32_t count = 0;
	while (count < most && draw(g, 5))
		count++;
	return count;
}

static void put_head(struct generator *g, const char *words, const struct thread *thread)
{
	put(g, words);
	put(g, " 0x");
	put_digits(g, thread->iid, 8, g->options.dialect == VS);
	put_number(g, g->ms);
}

static void put_frame(struct generator *g, uint32_t function, uint32_t point)
{
	put_hex(g, " ", function);
	put_ip(g, function, point, false);
}

/* The stack from `kept`, a place on the way to the old one, to thread->node. `old` is where the last of the frames that
 * stay was. */
static void put_change(struct generator *g, const struct thread *thread, uint32_t kept, uint32_t size, uint32_t old)
{
	const struct node *nodes = g->nodes;
	uint32_t way[2 * CHAIN], count = 0;
	for (uint32_t node = thread->node; node != kept; node = nodes[node].parent)
		way[count++] = node;
	uint32_t point = count ? nodes[way[count - 1]].point : thread->point;
	put_number(g, nodes[kept].depth);
	put_char(g, ':');
	put_decimal(g, size);
	if (kept && point != old && g->functions[nodes[kept].function].size)
		put_ip(g, nodes[kept].function, point, true);
	while (count--)
		put_frame(g, nodes[way[count]].function, count ? nodes[way[count - 1]].point : thread->point);
}

/* Leaves and enters functions; returns the place that was not left. */
static uint32_t walk(struct generator *g, struct thread *thread, uint32_t *old)
{
	uint32_t node = thread->node, depth = g->nodes[node].depth;
	uint32_t leave = draw(g, 100) < 40 ? 0 : some(g, 20), enter = draw(g, 100) < 30 ? 0 : some(g, 40);
	if (enter && !g->nodes[node].child)
		leave += 1 + draw(g, 6);
	if (depth > thread->deep)
		leave += draw(g, depth - thread->deep + 4);
	*old = thread->point;
	for (; leave && node; leave--) {
		*old = g->nodes[node].point;
		node = g->nodes[node].parent;
	}
	uint32_t kept = node;
	if (!node)
		enter += 2;
	for (uint32_t child; enter && (child = draw_child(g, node)); enter--) {
		node = child;
		tell_function(g, thread, g->nodes[node].function);
	}
	thread->node = node;
	if (kept != node || *old != thread->point || draw(g, 2))
		thread->point = draw(g, 32) ? draw(g, POINTS) : POINTS;
	return kept;
}

static void put_sample(struct generator *g, struct thread *thread, uint32_t count)
{
	uint32_t size = g->nodes[thread->node].depth, old, kept = walk(g, thread, &old);
	put_head(g, g->options.dialect == D0 ? "str sam" : "sam str", thread);
	put_number(g, count);
	put_change(g, thread, kept, size, old);
	put_end(g);
}

static void put_allocations(struct generator *g, const struct thread *thread)
{
	uint32_t function = g->nodes[thread->node].function, count = 1 + some(g, 9) / 2;
	uint32_t first = mixed(thread->node, 8) % g->class_count;
	for (uint32_t i = 0; i < count; i++)
		tell_class(g, (first + i) % g->class_count);
	put_head(g, "sam mem", thread);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t class = (first + i) % g->class_count, objects = 1 + draw(g, 14);
		put_hex(g, " ", class);
		put_char(g, ':');
		put_decimal(g, objects);
		put_char(g, ':');
		put_decimal(g, (uint64_t)objects * (24 + 8 * (class % 60)));
		put_ip(g, function, i % POINTS, false);
	}
	put_end(g);
}

static void sample(struct generator *g, struct thread *thread)
{
	thread->waited++;
	if (draw(g, 10) == 0)
		return;
	put_sample(g, thread, thread->waited);
	thread->waited = 0;
	if (g->options.dialect == D0 || !thread->node || draw(g, 100) >= 40)
		return;
	if (draw(g, 8) == 0)
		put_sample(g, thread, 0);
	if (thread->node)
		put_allocations(g, thread);
}

/* ---- Processor time, collections, pauses. ---- */

static void put_usage(struct generator *g)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < g->options.threads; i++) {
		uint32_t used = draw(g, 5) ? draw(g, TICK * 1000) : 0;
		put_head(g, "thr cpu", &g->threads[i]);
		put_number(g, used);
		put_end(g);
		total += used;
	}
	put(g, "prc cpu");
	put_number(g, g->ms);
	put_number(g, total + draw(g, 500));
	put_end(g);
}

static void put_heap(struct generator *g, uint32_t ms)
{
	put(g, "gch alt");
	put_number(g, ms);
	for (uint32_t class = 0, items = 0; class < g->class_count && items < LIVE; class ++) {
		uint32_t objects = 1 + draw(g, 5000);
		if (!g->classes[class].known || draw(g, 4) == 0)
			continue;
		put_hex(g, " ", class);
		put_char(g, ':');
		put_decimal(g, objects);
		put_char(g, ':');
		put_decimal(g, (uint64_t)objects * (24 + 8 * (class % 60)));
		items++;
	}
	put_end(g);
}

static void put_generations(struct generator *g, uint32_t ms)
{
	static const char *const names[] = {" loh:", " gen2:", " gen1:", " gen0:"};
	put(g, "gch gen");
	put_number(g, ms);
	for (int i = 0; i < 4; i++) {
		uint64_t used = draw(g, 4000000);
		put(g, names[i]);
		put_decimal(g, used);
		put_char(g, ':');
		put_decimal(g, used + draw(g, 4000000));
	}
	put_end(g);
}

static void collect(struct generator *g)
{
	static const char *const flags[] = {"tfff", "ttff", "tttt"};
	const struct thread *thread = &g->threads[draw(g, g->options.threads)];
	uint32_t kind = draw(g, 10), generation = kind < 7 ? 0 : kind < 9 ? 1 : 2;
	uint32_t begin = g->ms + 1, end = begin + draw(g, 2 + 3 * generation);
	put(g, "gch gcs");
	put_thread(g, thread);
	put_number(g, begin);
	put(g, draw(g, 12) ? " ? " : " induced ");
	put(g, flags[generation]);
	put_end(g);
	put(g, "gch gcf");
	put_thread(g, thread);
	put_number(g, end);
	put_end(g);
	if (generation == 2)
		put_heap(g, end);
	if (g->options.dialect >= D3)
		put_generations(g, end);
}

static void pause(struct generator *g)
{
	for (int i = 0; i < 2; i++) {
		put(g, i ? "prf trs" : "prf tps");
		put_number(g, g->ms);
		put_end(g);
		g->ms += i ? 0 : 20 * TICK + draw(g, 100);
	}
}

/* ---- Threads. ---- */

static void put_assignment(struct generator *g, const struct thread *thread)
{
	put(g, "thr aos");
	put_id(g, thread->iid);
	put_number(g, thread->system);
	put_end(g);
}

/* A thread that begins where another ended, with its pointer. */
static void begin_thread(struct generator *g, struct thread *thread, uint64_t pointer)
{
	static const uint32_t depths[] = {10, 14, 35, 60, 12, 250};
	uint32_t iid = g->next_thread++;
	*thread = (struct thread){
	    .iid = iid, .system = 4200 + 3 * iid, .pointer = pointer, .deep = depths[iid % 6], .point = POINTS};
	put(g, "thr crt");
	put_pointer(g, pointer);
	put_id(g, iid);
	put_end(g);
	put_assignment(g, thread);
}

static void change_thread(struct generator *g)
{
	struct thread *thread = &g->threads[1 + draw(g, g->options.threads - 1)];
	put(g, "thr dst");
	put_id(g, thread->iid);
	put_end(g);
	begin_thread(g, thread, thread->pointer);
}

/* ---- The log. ---- */

static void tick(struct generator *g)
{
	g->ms += TICK;
	g->ticks++;
	for (uint32_t i = 0; i < g->options.threads; i++)
		sample(g, &g->threads[i]);
	put_usage(g);
	tell_late_names(g);
	if (g->options.dialect >= D2 && draw(g, 50) == 0)
		collect(g);
	if (g->ticks % 400 == 0)
		change_thread(g);
	if (g->ticks % 5000 == 0)
		pause(g);
}

static void put_modules(struct generator *g)
{
	for (uint32_t module = 0; module < MODULES; module++) {
		char name[32], path[96];
		snprintf(name, sizeof name, "Lib%02u", (unsigned)module);
		snprintf(path, sizeof path, " \"/usr/share/dotnet/Microsoft.NETCore.App/2.0.0/%s.dll\"", name);
		uint64_t pointer = module_pointer(g, module), assembly = high(g, 0x18000000 + module * 0x80);
		put(g, "mod ldf");
		put_pointer(g, pointer);
		put_pointer(g, high(g, 0x60000000 + module * 0x10000));
		put_pointer(g, assembly);
		put_id(g, 0);
		put(g, path);
		put_end(g);
		put(g, "mod ata");
		put_pointer(g, pointer);
		put_pointer(g, assembly);
		put_end(g);
		put(g, "asm ldf");
		put_pointer(g, assembly);
		put_pointer(g, high(g, 0x08000000));
		put_pointer(g, pointer);
		put_id(g, 0);
		snprintf(path, sizeof path, " \"%s\"", name);
		put(g, path);
		put_end(g);
	}
}

static void put_configuration(struct generator *g)
{
	static const char *const lines[] = {"CollectionMethod Sampling", "SamplingTimeoutMs 10",
	                                    "HighGranularityEnabled T",  "TracingSuspendedOnStart F",
	                                    "LineTraceEnabled T",        "CpuTraceProcessEnabled T",
	                                    "CpuTraceThreadEnabled T",   "CpuTraceTimeoutMs 10",
	                                    "ExecutionTraceEnabled T",   "MemoryTraceEnabled T",
	                                    "StackTrackingEnabled T"};
	if (g->options.dialect > D0) {
		put(g, "prf stm 2018-06-25 07:24:28.049");
		put(g, g->options.dialect >= D3 ? " +09:00" : "");
		put_end(g);
	}
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		put(g, "prf cfg ");
		put(g, lines[i]);
		put_end(g);
	}
}

static void put_beginning(struct generator *g)
{
	bool old = g->options.dialect == D0;
	put_configuration(g);
	put(g, old ? "fun nam 0x00000000 \"UNMANAGED\"\nfun nam 0x00000001 \"JIT\""
	           : "fun nam 0x00000000 \"<UNMANAGED>\" \"\" \"\"\nfun nam 0x00000001 \"<JIT>\" \"\" \"\"");
	put_end(g);
	begin_thread(g, &g->threads[0], high(g, 0x30000000));
	put(g, "apd crf");
	put_pointer(g, high(g, 0x08000000));
	put_pointer(g, 4200);
	put_id(g, 0);
	put(g, " \"clrhost\"");
	put_end(g);
	put_modules(g);
	for (uint32_t i = 1; i < g->options.threads; i++)
		begin_thread(g, &g->threads[i], high(g, 0x30000000 + i * 0x4a0));
}

static void put_log(struct generator *g)
{
	put_beginning(g);
	while (g->written + g->used < g->options.size)
		tick(g);
	fwrite(g->buffer, 1, g->used, g->file);
}

/* ---- What the program is that is profiled. ---- */

static void make_functions(struct generator *g)
{
	g->class_count = 8 + (uint32_t)g->options.functions / 6;
	g->classes = allocate(g->class_count, sizeof *g->classes);
	g->functions = allocate(g->options.functions, sizeof *g->functions);
	g->functions[0].known = g->functions[1].known = true;
	uint64_t start = g->options.pointers == 64 ? UINT64_C(0x7F0100000000) : 0xA0000000;
	for (uint32_t i = 2; i < g->options.functions; i++) {
		struct function *function = &g->functions[i];
		function->class = mixed(i, 9) % g->class_count;
		function->size = mixed(i, 10) % 20 ? 0x40 + (mixed(i, 11) % 60) * 0x10 : 0;
		function->start = start;
		start += function->size;
	}
}

static uint32_t add_node(struct generator *g, uint32_t parent, uint32_t function)
{
	uint32_t number = g->free_nodes++;
	g->nodes[number] = (struct node){
	    .parent = parent,
	    .function = function,
	    .depth = g->nodes[parent].depth + 1,
	    .sibling = g->nodes[parent].child,
	    .point = draw(g, POINTS),
	};
	g->nodes[parent].child = number;
	return number;
}

/* A few functions that call one another, some of them for long, from a place that is there. */
static void add_chain(struct generator *g)
{
	uint32_t cycle[3], kinds = 1 + draw(g, 3), node = draw(g, g->free_nodes);
	bool recursive = draw(g, 40) == 0;
	uint32_t length = recursive ? 30 + draw(g, CHAIN - 30) : 8 + draw(g, 40);
	while (g->nodes[node].depth + length > CHAIN)
		node = g->nodes[node].parent;
	for (uint32_t i = 0; i < 3; i++)
		cycle[i] = draw(g, 50) ? 2 + draw(g, g->options.functions - 2) : draw(g, 2);
	for (uint32_t i = 0; i < length && g->free_nodes < g->options.stacks; i++) {
		uint32_t other = draw(g, 50) ? 2 + draw(g, g->options.functions - 2) : draw(g, 2);
		node = add_node(g, node, recursive ? cycle[i % kinds] : other);
	}
}

static void make_program(struct generator *g)
{
	make_functions(g);
	g->nodes = allocate(g->options.stacks + 1, sizeof *g->nodes);
	g->free_nodes = 1;
	for (uint32_t i = 0; i < 6; i++)
		add_node(g, NONE, 2 + i);
	while (g->free_nodes < g->options.stacks)
		add_chain(g);
	g->threads = allocate(g->options.threads, sizeof *g->threads);
}

/* ---- Setting up. ---- */

static _Noreturn void usage(void)
{
	fputs(
	    "usage: gen_tracelog [--size BYTES] [--dialect d0|d1|d2|d3|vs] [--threads N] [--functions N] [--stacks N]\n"
	    "                    [--pointers 32|64] [--no-ip] [--seed N] FILE\n"
	    "--stacks: places in the tree of calls; --no-ip: as where no instruction pointers are recorded\n",
	    stderr);
	exit(2);
}

static enum dialect parse_dialect(const char *text)
{
	static const char *const names[] = {"d0", "d1", "d2", "d3", "vs"};
	for (unsigned i = 0; i < 5; i++)
		if (!strcmp(text, names[i]))
			return i;
	usage();
}

static void check(const struct options *options)
{
	bool sane = options->threads >= 2 && options->threads <= 1000 && options->functions >= 16 &&
	            options->functions <= 1000000 && options->stacks >= 16 && options->stacks <= 10000000 &&
	            (options->pointers == 32 || options->pointers == 64);
	if (!sane)
		usage();
}

static void parse(int argc, char **argv, struct options *options)
{
	*options = (struct options){.size = 100000000,
	                            .threads = 4,
	                            .functions = 4000,
	                            .stacks = 20000,
	                            .pointers = 64,
	                            .seed = 1,
	                            .dialect = D3};
	static const struct option names[] = {
	    {"size", required_argument, NULL, 's'},
	    {"threads", required_argument, NULL, 't'},
	    {"functions", required_argument, NULL, 'f'},
	    {"stacks", required_argument, NULL, 'k'},
	    {"pointers", required_argument, NULL, 'p'},
	    {"seed", required_argument, NULL, 'r'},
	    {"dialect", required_argument, NULL, 'd'},
	    {"no-ip", no_argument, NULL, '1'},
	    {0},
	};
	for (int letter; (letter = getopt_long(argc, argv, "", names, NULL)) != -1;) {
		uint64_t *values[128] = {
		    ['s'] = &options->size,   ['t'] = &options->threads,  ['f'] = &options->functions,
		    ['k'] = &options->stacks, ['p'] = &options->pointers, ['r'] = &options->seed};
		if (letter == '1')
			options->no_ip = true;
		else if (letter == 'd')
			options->dialect = parse_dialect(optarg);
		else if (letter > 0 && letter < 128 && values[letter])
			*values[letter] = strtoull(optarg, NULL, 0);
		else
			usage();
	}
	check(options);
	if (optind != argc - 1)
		usage();
	options->output = argv[optind];
}

static void finish(struct generator *g)
{
	free(g->functions);
	free(g->classes);
	free(g->nodes);
	free(g->threads);
}

int main(int argc, char **argv)
{
	static struct generator g;
	parse(argc, argv, &g.options);
	g.random = g.options.seed;
	make_program(&g);
	g.file = fopen(g.options.output, "wb");
	if (!g.file) {
		perror(g.options.output);
		return 1;
	}
	put_log(&g);
	finish(&g);
	bool failed = ferror(g.file);
	if (fclose(g.file) || failed) {
		perror(g.options.output);
		return 1;
	}
	return 0;
}
