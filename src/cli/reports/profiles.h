/* profiles.h - reading files into a profile. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_PROFILES_H
#define CLI_REPORTS_PROFILES_H

#include "cli/options/options.h"

#include <trackway/analysis.h>

/* A profile that is read from files, and the options for it. */
struct tw_profiling {
	const struct tw_common *common;
	enum tw_profile_by by;
	bool recursive; /* calls that recur alone */
	size_t parts;   /* how many profiles there will be at the same time, which share the memory; 0: one */
	/* A profile of the same files: its findings and notes were said. NULL: there is none. */
	const struct tw_profile *earlier;
	struct tw_profile *profile; /* to be freed in any case; NULL when there was no memory */
	size_t readable;            /* files that could be read */
};

/* Returns the worst exit status of the files. */
int tw_profile_files(struct tw_profiling *profiling, char **paths, size_t count);

#endif
