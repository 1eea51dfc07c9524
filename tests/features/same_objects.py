#!/usr/bin/python3
"""same_objects.py - the objects of a build that another build of the same sources has, too: prints their names.

usage: same_objects.py BUILD OTHER

What they are compiled with differs in nothing but optimisation, debugging information, warnings as errors, macros that their
sources do not mention, and directories from which they include nothing.
"""
# SPDX-License-Identifier: Apache-2.0

import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys

INDIFFERENT = re.compile(r"-O.|-g|-Werror|-[ID].*")


class Build:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        entries = json.loads((self.path / "compile_commands.json").read_text())
        self.commands = {entry["output"]: shlex.split(entry["command"]) for entry in entries}

    @functools.cache
    def real(self, name):
        return str((self.path / name).resolve())

    def words(self, name):
        options = [word for word in self.commands[name][:-1] if word.startswith("-")]
        return [word for word in options if not INDIFFERENT.fullmatch(word)] + [self.real(self.commands[name][-1])]

    def macros(self, name):
        return {word for word in self.commands[name] if word.startswith("-D")}

    def directories(self, name):
        """Where headers are looked for; the build's own begin with BUILD."""
        return {self.real(word[2:]).replace(str(self.path), "BUILD", 1) for word in self.commands[name] if word.startswith("-I")}

    def needed(self):
        """The files that each object was made of."""
        files = {}
        for line in subprocess.check_output(["ninja", "-C", self.path, "-t", "deps"], text=True).splitlines():
            if line.startswith("    "):
                files[name].append(self.real(line.strip()))
            elif line:
                name = line.partition(":")[0] if line.endswith("(VALID)") else None
                files[name] = []
        files.pop(None, None)
        return files


def usual_directories():
    """Where the compiler looks anyway."""
    said = subprocess.run(["cc", "-E", "-Wp,-v", "-xc", "/dev/null"], capture_output=True, text=True, check=True).stderr
    return {str(pathlib.Path(line.strip()).resolve()) for line in said.splitlines() if line.startswith(" /")}


@functools.cache
def text(path):
    return pathlib.Path(path).read_bytes()


def mentions(files, macros):
    names = [word[2:].partition("=")[0].encode() for word in macros]
    return any(name in text(path) for path in files if not path.startswith("/usr/") for name in names)


def main():
    mine, other = map(Build, sys.argv[1:])
    usual, needed = usual_directories(), other.needed()
    for name in mine.commands.keys() & needed.keys() & other.commands.keys():
        files, theirs = needed[name], other.directories(name)
        less = theirs - mine.directories(name) - usual
        elsewhere = tuple(f"{directory}/" for directory in less | {str(other.path)}) # what a build generates is its own
        if (mine.words(name) == other.words(name) and mine.directories(name) <= theirs and
                not any(path.startswith(elsewhere) for path in files) and
                not mentions(files, mine.macros(name) ^ other.macros(name))):
            print(name)


main()
