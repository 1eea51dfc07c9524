/* flame_form.h - what a flame graph is written as, by the name of the file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_FLAME_FORM_H
#define CLI_REPORTS_FLAME_FORM_H

enum tw_flame_file {
	TW_FLAME_FILE_UNKNOWN,
	TW_FLAME_FILE_SVG,
	TW_FLAME_FILE_HTML,
	TW_FLAME_FILE_FOLDED,
	TW_FLAME_FILE_JSON
};

/* path: NULL and "-" are standard output, which gets a picture. */
enum tw_flame_file tw_flame_file_of(const char *path);

#endif
