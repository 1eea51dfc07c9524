/* replay.c - runs the fuzz target that the first argument names over files: seeds and inputs that once failed. Works in
 * every build. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct fuzz_target *targets;

void fuzz_add(struct fuzz_target *target)
{
	target->next = targets;
	targets = target;
}

/* Memory of just the file's size, so that a sanitizer sees a read beyond it. */
static int run_file(const struct fuzz_target *target, const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(size + !size);
	bool whole = file && bytes && fread(bytes, 1, size, file) == size;
	if (file)
		fclose(file);
	if (!whole) {
		perror(path);
		exit(1);
	}
	/* The name of the file that a crash is about is the last line. */
	printf("%s\n", path);
	fflush(stdout);
	target->run(bytes, size);
	free(bytes);
	return 1;
}

static int run(const struct fuzz_target *target, const char *path);

static int run_folder(const struct fuzz_target *target, const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char inner[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
		count += run(target, inner);
	}
	if (folder)
		closedir(folder);
	return count;
}

/* How many inputs there were. A path that is not there holds none. */
static int run(const struct fuzz_target *target, const char *path)
{
	struct stat status;
	if (stat(path, &status) < 0)
		return 0;
	return S_ISDIR(status.st_mode) ? run_folder(target, path) : run_file(target, path, (size_t)status.st_size);
}

static const struct fuzz_target *named(const char *name)
{
	for (const struct fuzz_target *target = targets; target; target = target->next)
		if (strcmp(target->name, name) == 0)
			return target;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct fuzz_target *target = argc > 1 ? named(argv[1]) : NULL;
	int count = 0;
	if (!target)
		fprintf(stderr, "usage: %s TARGET FILE...\n", argv[0]);
	for (int i = 2; target && i < argc; i++)
		count += run(target, argv[i]);
	printf("%d inputs\n", count);
	return count ? 0 : 1;
}
