/* perfetto_cpu.c - which counters are the frequency or the idle state of a CPU.
 *
 * The rule is that of SQL's cpu_counter_track: the number stands in the name ("CPU 3 Frequency"), or is the counter's
 * id ("cpufreq"). It may also be a value of the counter, `cpu` or `cpu_id`, beside `value` or `state`: so Linux's
 * events of power management have it (include/trace/events/power.h), and Perfetto's importer of FXT takes it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto/perfetto.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum {
	WORD_MAX = 12,
	PREFIX = 3 /* "cpu" */
};

static const struct {
	const char *word;
	unsigned field;
} words[] = {
    {"freq", FTRACE_CPU_FREQUENCY},  {"frequency", FTRACE_CPU_FREQUENCY}, {"idle", FTRACE_CPU_IDLE},
    {"idle state", FTRACE_CPU_IDLE}, {"idle_state", FTRACE_CPU_IDLE},     {"c-state", FTRACE_CPU_IDLE},
    {"cstate", FTRACE_CPU_IDLE},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_around(char c)
{
	return c && (is_digit(c) || strchr(" _.:/#[]()", c));
}

/* The field of what the name says behind "cpu", between numbers and marks; 0: nothing of a CPU. */
static unsigned field_of(const char *text, size_t size)
{
	char word[WORD_MAX] = "";
	while (size && is_around(*text))
		text++, size--;
	while (size && is_around(text[size - 1]))
		size--;
	if (size >= WORD_MAX)
		return 0;
	memcpy(word, text, size);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasecmp(word, words[i].word) == 0)
			return words[i].field;
	return 0;
}

/* Reads digits: false where there are none. A number that is too large is PERFETTO_CPUS. */
static bool read_number(const char *text, size_t size, uint64_t *number)
{
	enum { BASE = 10 };
	*number = 0;
	for (size_t i = 0; i < size && is_digit(text[i]); i++)
		*number = *number < PERFETTO_CPUS ? *number * BASE + (uint64_t)(text[i] - '0') : PERFETTO_CPUS;
	return size && is_digit(*text);
}

/* The number right behind "cpu", or at the end of the name. */
static bool number_in(const char *text, size_t size, uint64_t *number)
{
	size_t start = 0;
	while (start < size && text[start] && strchr(" _.:/#[(", text[start]))
		start++;
	if (read_number(text + start, size - start, number))
		return true;
	while (size && (text[size - 1] == ' ' || text[size - 1] == ')' || text[size - 1] == ']'))
		size--;
	size_t end = size;
	while (size && is_digit(text[size - 1]))
		size--;
	return read_number(text + size, end - size, number);
}

/* Linux's own names have the number as the id, also where that is 0; others say nothing of a CPU without one. */
static bool number_of(const struct tw_event *event, const char *text, size_t size, uint64_t *number)
{
	if (number_in(text, size, number))
		return true;
	*number = event->id;
	return event->id || !memchr(text, ' ', size);
}

static bool is_named(const struct perfetto *perfetto, const struct tw_argument *argument, const char *one,
                     const char *other)
{
	const char *name = tw_dictionary_name(perfetto->dictionary, argument->name)->text;
	return strcmp(name, one) == 0 || strcmp(name, other) == 0;
}

/* A state is a number of 32 bits; -1, which is no idle state, is the largest. */
static bool state_of(const struct tw_argument *argument, uint32_t *state)
{
	double value = 0;
	if (argument->type == TW_ARG_INT)
		value = (double)argument->value.i;
	else if (argument->type == TW_ARG_UINT)
		value = (double)argument->value.u;
	else if (argument->type == TW_ARG_DOUBLE)
		value = argument->value.d;
	else
		return false;
	if (!(value >= -1 && value <= UINT32_MAX) || value != floor(value))
		return false;
	*state = value < 0 ? UINT32_MAX : (uint32_t)value;
	return true;
}

/* What of the values tells the CPU and its state: bits. */
enum { HAS_CPU = 1, HAS_STATE = 2, HAS_ANOTHER = 4 };

static unsigned find_values(const struct perfetto *perfetto, const struct tw_event *event, struct perfetto_cpu *cpu)
{
	unsigned found = 0;
	cpu->number_at = cpu->value_at = 0;
	for (unsigned i = 0; i < event->argument_count; i++) {
		const struct tw_argument *argument = &perfetto->arguments[event->first_argument + i];
		if (is_named(perfetto, argument, "cpu", "cpu_id")) {
			bool integer = argument->type == TW_ARG_INT || argument->type == TW_ARG_UINT;
			cpu->number = integer ? argument->value.u : PERFETTO_CPUS;
			cpu->number_at = i;
			found |= found & HAS_CPU ? HAS_ANOTHER : HAS_CPU;
		} else if (is_named(perfetto, argument, "value", "state")) {
			cpu->value_at = i;
			found |= found & HAS_STATE ? HAS_ANOTHER : HAS_STATE;
		}
	}
	return found;
}

bool tw_perfetto_is_cpu(const struct perfetto *perfetto, const struct tw_event *event, struct perfetto_cpu *cpu)
{
	const struct tw_name *name = &perfetto->all_names[event->name];
	const char *text = name->text;
	if (name->length <= PREFIX || strncasecmp(text, "cpu", PREFIX) != 0)
		return false;
	cpu->field = field_of(text + PREFIX, name->length - PREFIX);
	if (!cpu->field || !event->argument_count)
		return false;
	unsigned found = find_values(perfetto, event, cpu);
	if (found & HAS_CPU
	        ? found != (HAS_CPU | HAS_STATE)
	        : event->argument_count > 1 || !number_of(event, text + PREFIX, name->length - PREFIX, &cpu->number))
		return false;
	return cpu->number < PERFETTO_CPUS &&
	       state_of(&perfetto->arguments[event->first_argument + cpu->value_at], &cpu->state);
}
