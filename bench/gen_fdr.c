/* gen_fdr.c - makes XRay FDR logs (version 5) of any size, for measuring: the same seed gives the same bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "gen.h"

enum {
	HEADER = 32,
	METADATA = 16,
	FUNCTION = 8,
	DEPTH = 40,                        /* of the call tree, at most */
	CALLEES = 8,                       /* that one function has, at most */
	SKIPPED = 8,                       /* one call in so many is left out: branches that depend on data */
	POPULAR = 4096,                    /* entries of the table that functions are drawn from */
	OTHERS = 100,                      /* one record in so many is no plain function record */
	EVENT = 64,                        /* bytes of a custom event, at most */
	MOST = FUNCTION + METADATA + EVENT /* that one step writes */
};

/* First bytes of metadata records: kind times two, and one. */
enum {
	NEW_BUFFER = 0x01,
	NEW_CPU = 0x05,
	WRAP = 0x07,
	WALL = 0x09,
	CUSTOM = 0x0b,
	ARGUMENT = 0x0d,
	EXTENTS = 0x0f,
	PID = 0x13
};

static const uint64_t hertz = 2000000000;

struct options {
	uint64_t size, threads, buffer_size, functions, seed;
	bool single;
	const char *output;
};

struct thread {
	uint32_t id;
	uint16_t cpu;
	uint64_t tsc;
	struct {
		uint32_t id;
		unsigned done; /* of its calls */
	} stack[DEPTH];
	unsigned depth;
};

struct generator {
	struct options options;
	FILE *file;
	uint64_t written, random;
	uint16_t popular[POPULAR];
	uint16_t (*callees)[CALLEES]; /* a function calls these, in this order: programs are structured, not noise */
	uint8_t *calls;               /* how many of them */
	struct thread *threads;
	uint64_t in_buffer; /* bytes of the open buffer after its extents */
};

static uint32_t draw(struct generator *g, uint32_t below)
{
	return gen_draw(&g->random, below);
}

/* ---- Bytes. ---- */

static void put(struct generator *g, const uint8_t *bytes, size_t size)
{
	fwrite(bytes, 1, size, g->file);
	g->written += size;
	g->in_buffer += size;
}

static void set(uint8_t *at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

/* A metadata record with up to two fields, one after the other. */
static void put_metadata(struct generator *g, uint8_t kind, uint64_t a, unsigned size_a, uint64_t b, unsigned size_b)
{
	uint8_t record[METADATA] = {kind};
	set(record + 1, a, size_a);
	set(record + 1 + size_a, b, size_b);
	put(g, record, sizeof record);
}

static void put_function(struct generator *g, unsigned action, uint32_t id, uint32_t delta)
{
	uint8_t record[FUNCTION];
	set(record, id << 4 | action << 1, 4);
	set(record + 4, delta, 4);
	put(g, record, sizeof record);
}

/* ---- Calls. ---- */

/* Most steps are short, a few long. */
static uint32_t advance(struct generator *g, struct thread *thread)
{
	uint32_t delta = 20 + draw(g, 200);
	if (!draw(g, 64))
		delta += draw(g, 20000);
	thread->tsc += delta;
	return delta;
}

static void put_enter(struct generator *g, struct thread *thread, uint32_t id, bool argument)
{
	thread->stack[thread->depth].id = id;
	thread->stack[thread->depth++].done = 0;
	put_function(g, argument ? 3 : 0, id, advance(g, thread));
	if (argument)
		put_metadata(g, ARGUMENT, draw(g, UINT32_MAX), 8, 0, 0);
}

/* The function that is called next: the next in the body of the one that runs, 0 when that returns. */
static uint32_t next_call(struct generator *g, struct thread *thread)
{
	if (!thread->depth)
		return g->popular[draw(g, POPULAR)];
	uint32_t id = thread->stack[thread->depth - 1].id;
	unsigned *done = &thread->stack[thread->depth - 1].done;
	while (*done < g->calls[id] && thread->depth < DEPTH) {
		uint32_t callee = g->callees[id][(*done)++];
		if (draw(g, SKIPPED))
			return callee;
	}
	return 0;
}

static void put_event(struct generator *g, struct thread *thread)
{
	uint8_t payload[EVENT];
	uint32_t size = 1 + draw(g, EVENT);
	for (uint32_t i = 0; i < size; i++)
		payload[i] = (uint8_t)('a' + draw(g, 26));
	put_metadata(g, CUSTOM, size, 4, advance(g, thread), 4);
	put(g, payload, size);
}

static void put_other(struct generator *g, struct thread *thread)
{
	switch (draw(g, 4)) {
	case 0:
		thread->cpu = (uint16_t)draw(g, 16);
		put_metadata(g, NEW_CPU, thread->cpu, 2, thread->tsc, 8);
		return;
	case 1:
		thread->tsc += INT32_MAX / 64;
		put_metadata(g, WRAP, thread->tsc, 8, 0, 0);
		return;
	case 2:
		put_event(g, thread);
		return;
	default:
		if (thread->depth < DEPTH)
			put_enter(g, thread, g->popular[draw(g, POPULAR)], true);
	}
}

static void step(struct generator *g, struct thread *thread)
{
	if (!draw(g, OTHERS)) {
		put_other(g, thread);
		return;
	}
	uint32_t id = next_call(g, thread);
	if (id)
		put_enter(g, thread, id, false);
	else
		put_function(g, 1, thread->stack[--thread->depth].id, advance(g, thread));
}

/* ---- Buffers. ---- */

/* Writes a buffer of about `room` bytes; its extents are known at the end only. */
static void put_buffer(struct generator *g, struct thread *thread, uint64_t room)
{
	long start = ftell(g->file);
	put_metadata(g, EXTENTS, 0, 8, 0, 0);
	g->in_buffer = 0;
	put_metadata(g, NEW_BUFFER, thread->id, 4, 0, 0);
	put_metadata(g, WALL, thread->tsc / hertz, 8, thread->tsc % hertz / (hertz / 1000000), 4);
	put_metadata(g, PID, g->threads[0].id, 4, 0, 0);
	put_metadata(g, NEW_CPU, thread->cpu, 2, thread->tsc, 8);
	while (g->in_buffer + MOST <= room)
		step(g, thread);
	long end = ftell(g->file);
	uint8_t extents[8];
	set(extents, g->in_buffer, 8);
	if (fseek(g->file, start + 1, SEEK_SET) || fwrite(extents, 1, 8, g->file) != 8 ||
	    fseek(g->file, end, SEEK_SET)) {
		perror("gen_fdr");
		exit(1);
	}
}

/* The thread that is behind goes next: buffers stand in the file by the time at which they were taken. */
static struct thread *behind(struct generator *g)
{
	struct thread *least = g->threads;
	for (uint64_t i = 1; i < g->options.threads; i++)
		if (g->threads[i].tsc < least->tsc)
			least = &g->threads[i];
	return least;
}

static void put_log(struct generator *g)
{
	uint8_t header[HEADER] = {[0] = 5, [2] = 1, [4] = 3};
	set(header + 8, hertz, 8);
	set(header + 16, g->options.buffer_size, 8);
	put(g, header, sizeof header);
	if (g->options.single)
		put_buffer(g, g->threads, g->options.size - HEADER - METADATA);
	while (g->written + g->options.buffer_size + METADATA <= g->options.size)
		put_buffer(g, behind(g), g->options.buffer_size);
}

/* ---- Setting up. ---- */

/* Function k is drawn about 1 / k as often as the first. */
static void make_functions(struct generator *g)
{
	static const uint8_t body[] = {0, 0, 0, 0, 1, 1, 2, 2, 3, CALLEES}; /* calls: four of ten functions make none */
	uint32_t functions = (uint32_t)g->options.functions;
	double sum = 0, part = 0;
	for (uint32_t k = 1; k <= functions; k++)
		sum += 1.0 / k;
	uint32_t k = 1;
	for (unsigned i = 0; i < POPULAR; i++) {
		while (k < functions && (part + 1.0 / k) / sum * POPULAR <= i)
			part += 1.0 / k++;
		g->popular[i] = (uint16_t)k;
	}
	g->callees = gen_allocate(functions + 1, sizeof *g->callees);
	g->calls = gen_allocate(functions + 1, sizeof *g->calls);
	for (uint32_t f = 1; f <= functions; f++) {
		g->calls[f] = body[draw(g, sizeof body)];
		for (unsigned i = 0; i < CALLEES; i++)
			g->callees[f][i] = g->popular[draw(g, POPULAR)];
	}
}

static void make_threads(struct generator *g)
{
	g->threads = gen_allocate(g->options.threads, sizeof *g->threads);
	for (uint32_t i = 0; i < g->options.threads; i++)
		g->threads[i] =
		    (struct thread){.id = 1000 + i, .cpu = (uint16_t)i, .tsc = 1000 * hertz + 12345 * (uint64_t)i};
}

static const char usage[] =
    "usage: gen_fdr [--size BYTES] [--threads N] [--buffer-size BYTES] [--functions N] [--single] [--seed N] FILE\n"
    "--single: one thread, one buffer of any size\n";

static void parse(int argc, char **argv, struct options *options)
{
	*options = (struct options){.size = 100000000, .threads = 8, .buffer_size = 16384, .functions = 300, .seed = 1};
	const struct gen_option names[] = {
	    {"size", .number = &options->size},
	    {"threads", .number = &options->threads},
	    {"buffer-size", .number = &options->buffer_size},
	    {"functions", .number = &options->functions},
	    {"seed", .number = &options->seed},
	    {"single", .flag = &options->single},
	    {NULL},
	};
	options->output = gen_parse(argc, argv, names, usage);
	if (options->single) {
		options->threads = 1;
		options->buffer_size = options->size;
	}
	bool sane = options->threads && options->threads <= 60000 && options->functions &&
	            options->functions <= 60000 && options->buffer_size >= 256 && options->size >= 1024;
	if (!sane)
		gen_usage(usage);
}

int main(int argc, char **argv)
{
	struct generator g = {0};
	parse(argc, argv, &g.options);
	g.random = g.options.seed;
	make_functions(&g);
	make_threads(&g);
	g.file = gen_open(g.options.output);
	put_log(&g);
	free(g.callees);
	free(g.calls);
	free(g.threads);
	return gen_close(g.file, g.options.output);
}
