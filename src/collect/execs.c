/* execs.c - programs that the program executes in its place. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/execs.h"

#include "collect/board.h"
#include "collect/calls.h"

static void copy_path(const struct guest *machine, uint64_t address, char path[COLLECT_EXEC_PATH])
{
	size_t length = 0;
	while (length < COLLECT_EXEC_PATH - 1 && machine_read(machine, address + length, path + length, 1) &&
	       path[length])
		length++;
	path[length] = '\0';
}

struct collect_exec *execs_begin(const struct guest *machine, struct collect_board *board)
{
	uint64_t number = machine_register(machine, 8);
	if (number != CALL_EXECVE && number != CALL_EXECVEAT)
		return NULL;
	for (unsigned i = 0; i < COLLECT_EXECS; i++) {
		uint32_t state = COLLECT_EXEC_NONE;
		struct collect_exec *exec = &board->execs[i];
		if (!atomic_compare_exchange_strong(&exec->state, &state, COLLECT_EXEC_BEGUN))
			continue;
		copy_path(machine, machine_register(machine, number == CALL_EXECVE ? 0 : 1), exec->path);
		return exec;
	}
	return NULL;
}

void execs_end(struct collect_exec *exec)
{
	if (exec)
		atomic_store(&exec->state, COLLECT_EXEC_NONE);
}
