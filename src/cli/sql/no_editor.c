/* no_editor.c - a build without libedit: lines are typed as the terminal has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sql/editor.h"

const char *tw_editor_load(struct tw_editor *editor)
{
	(void)editor;
	return "this trackway is built without it";
}
