/* parts.c - which parts of a machine are recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system/parts.h"

struct interval_state parts = {.main = -1};

void parts_setup(const struct collect_board *board)
{
	parts.has_marks = board->options.from_hint;
	parts.has_windows = board->windows.count > 0;
	atomic_store(&parts.counts, !board->options.from_hint);
	atomic_store(&parts.main, board->options.from_hint ? -1 : 0);
}

bool parts_mark(unsigned core)
{
	int none = -1;
	bool begins = !atomic_load(&parts.counts);
	atomic_compare_exchange_strong(&parts.main, &none, (int)core);
	atomic_store(&parts.counts, begins);
	return begins;
}
