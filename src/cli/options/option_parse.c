/* option_parse.c - from the words of a command line to the struct of a command. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/text/nearest.h"
#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/options/parse.h"
#include "cli/output/message.h"

#include <assert.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 96, LONG_ONLY = 256 };

/* ---- Values. ---- */

static const char too_large[] = "is too large", too_small[] = "is too small";

static const char *take_choice(const struct tw_option *option, void *member, const char *text)
{
	const char *word;
	for (size_t i = 0; (word = tw_option_word(option, i)); i++)
		if (strcmp(word, text) == 0) {
			*(const char **)member = word;
			return NULL;
		}
	return "is none of the choices";
}

static const char *take_numbers(struct tw_numbers *numbers, const char *text)
{
	const char *wrong = NULL;
	for (const char *p = text, *end; !wrong && p; p = *end ? end + 1 : NULL) {
		char one[32] = "";
		end = p + strcspn(p, ",");
		if ((size_t)(end - p) < sizeof one)
			memcpy(one, p, (size_t)(end - p));
		if (!tw_grow(&numbers->items, &numbers->room, numbers->count + 1, sizeof *numbers->items))
			return "is too long";
		wrong = tw_parse_count(one, &numbers->items[numbers->count++]);
	}
	return wrong;
}

/* Adds what is between commas: a number, or else a name. */
static const char *take_one_of(struct tw_numbers *who, const char *text, size_t length)
{
	uint64_t number;
	char *one = strndup(text, length);
	if (!one || !tw_grow(&who->items, &who->room, who->count + 1, sizeof *who->items) ||
	    !tw_grow(&who->names.items, &who->names.room, who->names.count + 1, sizeof *who->names.items)) {
		free(one);
		return "is too long";
	}
	const bool negative = one[0] == '-'; /* as sql shows those that a trace tells so */
	if (!tw_parse_count(one + negative, &number)) {
		who->items[who->count++] = negative ? -number : number;
		free(one);
	} else if (length) {
		who->names.items[who->names.count++] = one;
	} else {
		free(one);
	}
	return length ? NULL : "is empty";
}

static const char *take_who(struct tw_numbers *who, const char *text)
{
	const char *wrong = NULL;
	for (const char *p = text, *end; !wrong && p; p = *end ? end + 1 : NULL) {
		end = p + strcspn(p, ",");
		wrong = take_one_of(who, p, (size_t)(end - p));
	}
	return wrong;
}

static const char *take_text(struct tw_list *list, const char *text)
{
	if (!tw_grow(&list->items, &list->room, list->count + 1, sizeof *list->items))
		return "is too long";
	list->items[list->count++] = text;
	return *text ? NULL : "is empty";
}

static const char *take_named(const struct tw_option *option, struct tw_named *named, const char *text)
{
	char number[32] = "";
	const char *equals = strchr(text, '=');
	if (!equals || !equals[1])
		return "is no number, = and name";
	if ((size_t)(equals - text) < sizeof number)
		memcpy(number, text, (size_t)(equals - text));
	if (!tw_grow(&named->items, &named->room, named->count + 1, sizeof *named->items))
		return "is too long";
	named->items[named->count].name = equals + 1;
	uint64_t *type = &named->items[named->count++].type;
	const char *wrong = tw_parse_count(number, type);
	return !wrong && *type > option->most ? too_large : wrong;
}

static const char *take_number(const struct tw_option *option, uint64_t *member, const char *text)
{
	static const char *(*const parsers[])(const char *, uint64_t *) = {
	    [TW_OPTION_COUNT] = tw_parse_count,
	    [TW_OPTION_SIZE] = tw_parse_size,
	    [TW_OPTION_DURATION] = tw_parse_duration,
	    [TW_OPTION_HERTZ] = tw_parse_hertz,
	};
	const char *wrong = parsers[option->kind](text, member);
	if (wrong || *member < option->least)
		return wrong ? wrong : too_small;
	return option->most && *member > option->most ? too_large : NULL;
}

/* Fills the option's member. Returns NULL or what is wrong with the text. */
static const char *take_value(const struct tw_option *option, void *member, const char *text)
{
	switch (option->kind) {
	case TW_OPTION_FLAG:
		*(bool *)member = true;
		return NULL;
	case TW_OPTION_TEXT:
	case TW_OPTION_FILE:
		*(const char **)member = text;
		return *text || option->may_be_empty ? NULL : "is empty";
	case TW_OPTION_CHOICE:
		return take_choice(option, member, text);
	case TW_OPTION_COUNT:
	case TW_OPTION_SIZE:
	case TW_OPTION_DURATION:
	case TW_OPTION_HERTZ:
		return take_number(option, member, text);
	case TW_OPTION_NUMBER:
		((struct tw_option_number *)member)->given = true;
		return tw_parse_count(text, &((struct tw_option_number *)member)->value);
	case TW_OPTION_NUMBERS:
		return take_numbers(member, text);
	case TW_OPTION_WHO:
		return take_who(member, text);
	case TW_OPTION_LIST:
	case TW_OPTION_FILES:
		return take_text(member, text);
	case TW_OPTION_NAMED:
		return take_named(option, member, text);
	}
	return NULL;
}

/* ---- What is wrong, in words. ---- */

static const char *option_name(void *command, size_t i)
{
	const struct tw_option *option = tw_option_at(command, i);
	return option ? option->name : NULL;
}

static int unknown_option(const struct tw_command *command, const char *typed)
{
	char name[64] = "";
	if (strncmp(typed, "--", 2) != 0)
		return tw_say_usage(command, "there is no option %s", typed);
	size_t length = strcspn(typed + 2, "=");
	memcpy(name, typed + 2, length < sizeof name ? length : 0);
	const char *near = tw_nearest(name, option_name, (void *)(uintptr_t)command);
	if (near)
		return tw_say_usage(command, "there is no option --%s; did you mean --%s?", name, near);
	return tw_say_usage(command, "there is no option %s", typed);
}

static const char *choice_word(void *option, size_t i)
{
	return tw_option_word(option, i);
}

static int bad_value(const struct tw_command *command, const struct tw_option *option, const char *text,
                     const char *wrong)
{
	struct tw_text words = {0};
	if (option->most && strcmp(wrong, too_large) == 0)
		return tw_say_usage(command, "--%s: \"%s\" %s: %llu is the most", option->name, text, wrong,
		                    (unsigned long long)option->most);
	if (wrong == too_small)
		return tw_say_usage(command, "--%s: \"%s\" %s: %llu is the least", option->name, text, wrong,
		                    (unsigned long long)option->least);
	if (option->kind != TW_OPTION_CHOICE)
		return tw_say_usage(command, "--%s: \"%s\" %s", option->name, text, wrong);
	const char *word, *near = tw_nearest(text, choice_word, (void *)(uintptr_t)option);
	if (near)
		return tw_say_usage(command, "--%s: \"%s\" %s; did you mean %s?", option->name, text, wrong, near);
	for (size_t i = 0; (word = tw_option_word(option, i)); i++)
		if (!tw_text_add(&words, i ? ", " : "", i ? 2 : 0) || !tw_text_add(&words, word, strlen(word)))
			break;
	tw_say_usage(command, "--%s: \"%s\" %s: %s", option->name, text, wrong, words.bytes ? words.bytes : "");
	tw_text_free(&words);
	return TW_EXIT_FAILED;
}

/* ---- Parsing. ---- */

/* The tables in getopt_long()'s form. A long option's value is LONG_ONLY and its number. */
struct getopt_tables {
	struct option options[MAX_OPTIONS + 1];
	char letters[2 * MAX_OPTIONS + 2];
};

static void fill_tables(const struct tw_command *command, struct getopt_tables *tables)
{
	const struct tw_option *option;
	assert(!tw_option_at(command, MAX_OPTIONS));
	char *letter = tables->letters;
	*letter++ = ':';
	for (int i = 0; i < MAX_OPTIONS && (option = tw_option_at(command, (size_t)i)); i++) {
		int argument = option->kind == TW_OPTION_FLAG ? no_argument : required_argument;
		tables->options[i] = (struct option){option->name, argument, NULL, LONG_ONLY + i};
		if (option->letter)
			*letter++ = option->letter;
		if (option->letter && argument == required_argument)
			*letter++ = ':';
	}
}

static const struct tw_option *option_of(const struct tw_command *command, int value)
{
	const struct tw_option *option;
	if (value >= LONG_ONLY)
		return tw_option_at(command, (size_t)(value - LONG_ONLY));
	for (size_t i = 0; (option = tw_option_at(command, i)); i++)
		if (option->letter == value)
			return option;
	return NULL;
}

/* getopt_long() returned '?' or ':'. */
static int bad_option(const struct tw_command *command, int code, char **argv)
{
	const struct tw_option *option = option_of(command, optopt);
	const char *typed = argv[optind - 1];
	if (code == ':' && option)
		return tw_say_usage(command, "--%s wants a value", option->name);
	if (option && option->kind == TW_OPTION_FLAG && strchr(typed, '='))
		return tw_say_usage(command, "--%s takes no value", option->name);
	char letter[] = {'-', (char)optopt, '\0'};
	return unknown_option(command, optopt > 0 && optopt < LONG_ONLY ? letter : typed);
}

/* Whether the option has a value already, of a kind of which there can be only one: a second would replace it
 * unsaid. */
static bool is_given(const struct tw_option *option, const void *member)
{
	bool single = option->kind == TW_OPTION_TEXT || option->kind == TW_OPTION_FILE;
	return single && *(const char *const *)member;
}

static bool keep_typed(struct tw_typed *typed, const struct tw_option *option, const char *text)
{
	if (!tw_grow(&typed->items, &typed->room, typed->count + 1, sizeof *typed->items))
		return false;
	typed->items[typed->count++] = (struct tw_typed_option){option, option->kind == TW_OPTION_FLAG ? NULL : text};
	return true;
}

static int parse(const struct tw_command *command, int argc, char **argv, struct tw_common *values)
{
	struct getopt_tables tables = {0};
	fill_tables(command, &tables);
	opterr = 0;
	optind = 0; /* glibc: start anew */
	for (int code; (code = getopt_long(argc, argv, tables.letters, tables.options, NULL)) != -1;) {
		if (code == '?' || code == ':')
			return bad_option(command, code, argv);
		const struct tw_option *option = option_of(command, code);
		if (is_given(option, (const char *)values + option->offset))
			return tw_say_usage(command, "--%s was given twice", option->name);
		const char *wrong = take_value(option, (char *)values + option->offset, optarg);
		if (wrong)
			return bad_value(command, option, optarg, wrong);
		if (!keep_typed(&values->typed, option, optarg))
			return tw_say_error("out of memory");
		values->filter.given |= option->filters;
	}
	return 0;
}

/* getopt_long() brings the operands together, those in front of "--" with those behind it. */
int tw_options_parse(const struct tw_command *command, int argc, char **argv, struct tw_common *values, int *first)
{
	char **typed = malloc((size_t)argc * sizeof *typed);
	if (!typed)
		return tw_say_error("out of memory");
	memcpy(typed, argv, (size_t)argc * sizeof *typed);
	int status = parse(command, argc, argv, values);
	*first = optind;
	for (int i = 1; status == 0 && i < argc && strcmp(argv[optind - 1], "--") == 0; i++)
		if (typed[i] == argv[optind - 1])
			values->behind = (size_t)(argc - 1 - i);
	free(typed);
	return status;
}
