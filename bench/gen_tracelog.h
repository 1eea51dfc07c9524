/* gen_tracelog.h - the program whose log gen_tracelog writes: its functions, classes and calls, and the lines that tell
 * of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_GEN_TRACELOG_H
#define BENCH_GEN_TRACELOG_H

#include "gen.h"

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
	uint32_t class_count, ms, ticks, next_thread, free_nodes;
	size_t used;
	char buffer[ROOM + LONGEST];
};

static inline uint32_t draw(struct generator *g, uint64_t below)
{
	return gen_draw(&g->random, below);
}

/* The same for the same numbers. */
static inline uint32_t mixed(uint64_t a, uint64_t b)
{
	uint64_t value = (a * UINT64_C(0x9e3779b97f4a7c15)) ^ ((b + 1) * UINT64_C(0xc2b2ae3d27d4eb4f));
	value ^= value >> 29;
	value *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(value >> 32);
}

/* ---- The program that is profiled. ---- */

static inline void make_functions(struct generator *g)
{
	g->class_count = 8 + (uint32_t)g->options.functions / 6;
	g->classes = gen_allocate(g->class_count, sizeof *g->classes);
	g->functions = gen_allocate(g->options.functions, sizeof *g->functions);
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

static inline uint32_t add_node(struct generator *g, uint32_t parent, uint32_t function)
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
static inline void add_chain(struct generator *g)
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

static inline void make_program(struct generator *g)
{
	make_functions(g);
	g->nodes = gen_allocate(g->options.stacks + 1, sizeof *g->nodes);
	g->free_nodes = 1;
	for (uint32_t i = 0; i < 6; i++)
		add_node(g, NONE, 2 + i);
	while (g->free_nodes < g->options.stacks)
		add_chain(g);
	g->threads = gen_allocate(g->options.threads, sizeof *g->threads);
}

/* ---- Pieces of a line. ---- */

static inline void put_char(struct generator *g, char c)
{
	g->buffer[g->used++] = c;
}

static inline void put(struct generator *g, const char *text)
{
	size_t size = strlen(text);
	memcpy(g->buffer + g->used, text, size);
	g->used += size;
}

static inline void put_decimal(struct generator *g, uint64_t value)
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
static inline void put_digits(struct generator *g, uint64_t value, unsigned width, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	while (width < 16 && value >> (4 * width))
		width++;
	while (width)
		put_char(g, digits[value >> (4 * --width) & 15]);
}

static inline void put_pointer(struct generator *g, uint64_t value)
{
	put(g, " 0x");
	put_digits(g, value, (unsigned)g->options.pointers / 4, true);
}

/* An id of the profiler, a token or a status. */
static inline void put_id(struct generator *g, uint32_t value)
{
	put(g, " 0x");
	put_digits(g, value, 8, false);
}

static inline void put_number(struct generator *g, uint64_t value)
{
	put_char(g, ' ');
	put_decimal(g, value);
}

static inline void put_end(struct generator *g)
{
	put_char(g, '\n');
	if (g->used < ROOM)
		return;
	fwrite(g->buffer, 1, g->used, g->file);
	g->written += g->used;
	g->used = 0;
}

/* A thread of a jit or gch record. */
static inline void put_thread(struct generator *g, const struct thread *thread)
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
static inline bool is_array(uint32_t class)
{
	return class % 7 == 6;
}

static inline void put_class_name(struct generator *g, uint32_t class)
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

static inline void put_function_name(struct generator *g, uint32_t number)
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

static inline uint64_t high(const struct generator *g, uint64_t low)
{
	return g->options.pointers == 64 ? UINT64_C(0x7F0000000000) + low * 4 : low;
}

static inline uint64_t module_pointer(const struct generator *g, uint32_t module)
{
	return high(g, 0x10000000 + module * 0x1000);
}

static inline uint64_t class_pointer(const struct generator *g, uint32_t class)
{
	return is_array(class) ? 0 : high(g, 0x20000000 + class * 0x48);
}

static inline uint64_t function_pointer(const struct generator *g, uint32_t function)
{
	return high(g, 0x40000000 + function * 0x18);
}

static inline void define_class(struct generator *g, uint32_t class)
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

static inline void put_hex(struct generator *g, const char *before, uint64_t value)
{
	put(g, before);
	put(g, "0x");
	put_digits(g, value, 1, false);
}

static inline void put_map(struct generator *g, uint64_t il, uint32_t begin, uint32_t end)
{
	put_hex(g, " ", il);
	put_hex(g, ":", begin);
	put_hex(g, ":", end);
}

static inline void put_code(struct generator *g, uint32_t number)
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

static inline bool is_cached(uint32_t function)
{
	return mixed(function, 2) % 3 == 0;
}

/* Where the words of a function's record stand differs. */
static inline void put_function(struct generator *g, uint32_t number)
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

static inline void put_compilation(struct generator *g, const struct thread *thread, uint32_t function, bool end)
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

static inline uint32_t line_of(uint32_t function, uint32_t point)
{
	return function * POINTS + point + 1;
}

/* The source, as the adaptor of Visual Studio adds it. */
static inline void put_lines(struct generator *g, uint32_t number)
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
static inline void name_function(struct generator *g, uint32_t number)
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

static inline void put_late_names(struct generator *g)
{
	for (struct late *late = g->late; late < g->late + LATE; late++)
		if (late->ticks && --late->ticks == 0)
			put_function_name(g, late->function);
}

static inline void define_function(struct generator *g, const struct thread *thread, uint32_t number)
{
	if (g->functions[number].known)
		return;
	g->functions[number].known = true;
	define_class(g, g->functions[number].class);
	put_compilation(g, thread, number, false);
	put_function(g, number);
	name_function(g, number);
	put_lines(g, number);
	put_compilation(g, thread, number, true);
}

#endif
