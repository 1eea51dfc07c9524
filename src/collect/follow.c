/* follow.c - a program that is executed in the place of a recorded one: by QEMU with the options of this one.
 *
 * QEMU has the kernel execute it, which takes AArch64 programs only where binfmt is set up, and then without the
 * plugin. So the plugin does so before QEMU, where it is one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/follow.h"

#include "base/bytes/bytes.h"
#include "collect/calls.h"
#include "collect/programs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TEXT_MOST = 1 << 17, /* Linux, MAX_ARG_STRLEN */
	ALL_MOST = 1 << 20,  /* half of what Linux takes as a rule */
	LINE_MOST = 1 << 14,
	PAGE = 4096,
	WORD = 8
};

struct followed_program {
	char path[PATH_MAX];
	struct program_words words, environment;
	size_t bytes;
};

/* QEMU's own command line, up to the plugin; and the program. */
static struct {
	struct program_words words;
	char plugin[PATH_MAX], program[PATH_MAX];
	const char *sysroot;
} own;

/* ---- QEMU. ---- */

/* "qemu-aarch64 -cpu CPU [-L SYSROOT] -plugin PLUGIN,fd=N [-0 NAME] PROGRAM", each with its end. */
static void take_line(const char *line, const char *end)
{
	const char *program = NULL;
	for (const char *word = line, *next; word < end; word = next) {
		next = word + strlen(word) + 1;
		bool has_value = *word == '-' && next < end;
		if (!own.plugin[0] && has_value && strcmp(word, "-plugin") == 0) {
			snprintf(own.plugin, sizeof own.plugin, "%.*s", (int)strcspn(next, ","), next);
			next += strlen(next) + 1;
		} else if (own.plugin[0] && has_value && strcmp(word, "-0") == 0) {
			next += strlen(next) + 1;
		} else if (own.plugin[0]) {
			program = word;
			break;
		} else if (!program_words_add(&own.words, own.words.count, word)) {
			break;
		}
	}
	if (!program || !realpath(program, own.program))
		own.plugin[0] = '\0';
	own.sysroot = getenv("QEMU_LD_PREFIX"); /* as QEMU has it, where there is no -L */
	for (size_t i = 0; i + 1 < own.words.count; i++)
		if (strcmp(own.words.items[i], "-L") == 0)
			own.sysroot = own.words.items[i + 1];
}

void follow_setup(void)
{
	static char line[LINE_MOST];
	size_t size = 0;
	ssize_t count;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (count = read(fd, line + size, sizeof line - 1 - size)) > 0)
		size += (size_t)count;
	if (fd >= 0)
		close(fd);
	take_line(line, line + size);
}

/* ---- What the guest asks for. ---- */

/* Returns a copy of a text of the guest's; NULL where there is none. */
static char *read_text(const struct guest *machine, uint64_t address)
{
	char *text = malloc(TEXT_MOST), *end = NULL;
	size_t size = 0;
	while (text && !end && size < TEXT_MOST) {
		size_t part = PAGE - (address + size) % PAGE;
		part = part < TEXT_MOST - size ? part : TEXT_MOST - size;
		if (!machine_read(machine, address + size, text + size, part))
			break;
		end = memchr(text + size, '\0', part);
		size += part;
	}
	char *copy = end ? strdup(text) : NULL;
	free(text);
	return copy;
}

/* Reads a list of texts, which ends with 0. */
static bool read_list(struct followed_program *follow, const struct guest *machine, uint64_t address,
                      struct program_words *list)
{
	uint8_t word[WORD];
	for (bool fine = true; fine && address; address += WORD) {
		if (!machine_read(machine, address, word, WORD))
			return false;
		if (!tw_load64(word, false))
			return true;
		char *text = read_text(machine, tw_load64(word, false));
		follow->bytes += text ? strlen(text) + 1 + WORD : 0;
		fine = text && follow->bytes < ALL_MOST && program_words_add(list, list->count, text);
		free(text);
		if (!fine)
			return false;
	}
	return true;
}

/* The path of an open file or directory. */
static bool path_of(int fd, char path[PATH_MAX])
{
	char link[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, path, PATH_MAX - 1);
	path[length < 0 ? 0 : length] = '\0';
	return length > 0;
}

/* Which file is to be executed. */
static bool take_name(const struct guest *machine, char name[PATH_MAX])
{
	enum { HERE = -100 /* AT_FDCWD */ };
	bool is_at = machine_register(machine, 8) == CALL_EXECVEAT;
	int folder = is_at ? (int)machine_register(machine, 0) : HERE;
	char *text = read_text(machine, machine_register(machine, is_at ? 1 : 0)), base[PATH_MAX] = "";
	bool fine = text && (text[0] == '/' || folder == HERE || path_of(folder, base));
	if (fine && (text[0] == '/' || !base[0]))
		fine = snprintf(name, PATH_MAX, "%s", text) < PATH_MAX;
	else if (fine)
		fine = snprintf(name, PATH_MAX, "%s%s%s", base, text[0] ? "/" : "", text) < PATH_MAX;
	free(text);
	char self[64];
	snprintf(self, sizeof self, "/proc/%ld/exe", (long)getpid());
	if (fine && (strcmp(name, "/proc/self/exe") == 0 || strcmp(name, self) == 0))
		snprintf(name, PATH_MAX, "%s", own.program);
	return fine && name[0];
}

static void release(struct followed_program *follow)
{
	program_words_free(&follow->words);
	program_words_free(&follow->environment);
	free(follow);
}

struct followed_program *follow_begin(const struct guest *machine)
{
	uint64_t number = machine_register(machine, 8);
	unsigned first = number == CALL_EXECVEAT ? 2 : 1;
	char name[PATH_MAX];
	if ((number != CALL_EXECVE && number != CALL_EXECVEAT) || !own.plugin[0] || !take_name(machine, name))
		return NULL;
	struct followed_program *follow = calloc(1, sizeof *follow);
	if (!follow)
		return NULL;
	bool fine = read_list(follow, machine, machine_register(machine, first), &follow->words) &&
	            read_list(follow, machine, machine_register(machine, first + 1), &follow->environment) &&
	            (follow->words.count || program_words_add(&follow->words, 0, ""));
	if (fine && program_find(own.sysroot, name, &follow->words, follow->path) == 0)
		return follow;
	release(follow);
	return NULL;
}

/* ---- Going there. ---- */

/* The tool has the board open: for all processes, whatever they have closed. */
static int open_board(const struct collect_board *board)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/fd/%ld", (long)board->tool, (long)board->file);
	return open(path, O_RDWR);
}

/* QEMU's words before those of the program. */
static bool put_own(struct program_words *words, const struct followed_program *follow, const char *plugin)
{
	bool fine = true;
	for (size_t i = 0; fine && i < own.words.count; i++)
		fine = program_words_add(words, words->count, own.words.items[i]);
	const char *const others[] = {"-plugin", plugin, "-0", follow->words.items[0], follow->path};
	for (size_t i = 0; fine && i < sizeof others / sizeof *others; i++)
		fine = program_words_add(words, words->count, others[i]);
	for (size_t i = 1; fine && i < follow->words.count; i++)
		fine = program_words_add(words, words->count, follow->words.items[i]);
	return fine;
}

/* A list ends with NULL. */
static bool end_list(struct program_words *words)
{
	bool fine = program_words_add(words, words->count, "");
	if (fine) {
		free(words->items[--words->count]);
		words->items[words->count] = NULL;
	}
	return fine;
}

void follow_go(struct followed_program *follow, struct collect_board *board, const struct collect_slot *slot)
{
	char plugin[PATH_MAX + 64];
	struct program_words words = {0};
	int fd = open_board(board);
	snprintf(plugin, sizeof plugin, "%s,fd=%d,slot=%td", own.plugin, fd, slot ? slot - board->slots : -1);
	if (fd >= 0 && put_own(&words, follow, plugin) && end_list(&words) && end_list(&follow->environment))
		execve("/proc/self/exe", words.items, follow->environment.items);
	if (fd >= 0)
		close(fd);
	program_words_free(&words);
	release(follow);
}
