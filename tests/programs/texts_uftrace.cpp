/* texts_uftrace.cpp - C++ for uftrace: texts for arguments, exceptions, a jump out of calls, a child, and a library that
 * is opened by the program itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <csetjmp>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#ifdef PLUGIN

extern "C" int plugin_leaf(int n)
{
	return n * 3;
}

extern "C" int plugin_work(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += plugin_leaf(i);
	return sum;
}

#else

#include <dlfcn.h>

struct Text {
	std::string text;
	explicit Text(const char *from) : text(from)
	{
	}
	int length() const
	{
		return static_cast<int>(text.size());
	}
};

static std::jmp_buf place;

int throws(const char *why, int depth)
{
	Text text(why);
	if (depth == 0)
		throw std::runtime_error(text.text);
	return throws(why, depth - 1) + text.length();
}

int catches(int depth)
{
	try {
		return throws("abc", depth);
	} catch (const std::exception &) {
		return -1;
	}
}

void jumps(int depth)
{
	if (depth == 0)
		std::longjmp(place, 1);
	jumps(depth - 1);
}

int after(int n)
{
	return n + 1;
}

int main()
{
	int sum = 0;
	for (int i = 0; i < 200; i++)
		sum += catches(i % 5);
	void *library = dlopen("./libplugin.so", RTLD_NOW);
	if (!library)
		return 1;
	sum += reinterpret_cast<int (*)(int)>(dlsym(library, "plugin_work"))(5);
	if (setjmp(place) == 0)
		jumps(4);
	pid_t child = fork();
	if (child == 0)
		_exit(after(2) == 0);
	waitpid(child, nullptr, 0);
	return after(sum) == 0;
}

#endif
