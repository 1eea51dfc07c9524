/* gen_tracelog.c - makes TraceLog logs of any size and dialect, for measuring: the same seed gives the same bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "gen_tracelog.h"

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
		define_function(g, thread, g->nodes[node].function);
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
		define_class(g, (first + i) % g->class_count);
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
	put_late_names(g);
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

/* ---- Setting up. ---- */

static const char usage[] =
    "usage: gen_tracelog [--size BYTES] [--dialect d0|d1|d2|d3|vs] [--threads N] [--functions N] [--stacks N]\n"
    "                    [--pointers 32|64] [--no-ip] [--seed N] FILE\n"
    "--stacks: places in the tree of calls; --no-ip: as where no instruction pointers are recorded\n";

static enum dialect parse_dialect(const char *text)
{
	static const char *const names[] = {"d0", "d1", "d2", "d3", "vs"};
	for (unsigned i = 0; i < 5; i++)
		if (!strcmp(text, names[i]))
			return i;
	gen_usage(usage);
}

static void check(const struct options *options)
{
	bool sane = options->threads >= 2 && options->threads <= 1000 && options->functions >= 16 &&
	            options->functions <= 1000000 && options->stacks >= 16 && options->stacks <= 10000000 &&
	            (options->pointers == 32 || options->pointers == 64);
	if (!sane)
		gen_usage(usage);
}

static void parse(int argc, char **argv, struct options *options)
{
	*options = (struct options){
	    .size = 100000000, .threads = 4, .functions = 4000, .stacks = 20000, .pointers = 64, .seed = 1};
	const char *dialect = "d3";
	const struct gen_option names[] = {
	    {"size", .number = &options->size},
	    {"threads", .number = &options->threads},
	    {"functions", .number = &options->functions},
	    {"stacks", .number = &options->stacks},
	    {"pointers", .number = &options->pointers},
	    {"seed", .number = &options->seed},
	    {"dialect", .text = &dialect},
	    {"no-ip", .flag = &options->no_ip},
	    {NULL},
	};
	options->output = gen_parse(argc, argv, names, usage);
	options->dialect = parse_dialect(dialect);
	check(options);
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
	g.file = gen_open(g.options.output);
	put_log(&g);
	finish(&g);
	return gen_close(g.file, g.options.output);
}
