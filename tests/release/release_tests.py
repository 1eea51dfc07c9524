#!/usr/bin/python3
"""release_tests.py - scripts/release in a copy of the repository: what it refuses, changes, and packs.

usage: release_tests.py

Prints TAP. Skips all where the sources are in no repository. rpmspec and rpmlint read the RPM spec where they are.
"""
# SPDX-License-Identifier: Apache-2.0

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION, DAY = "7.2.13", "2031-12-24"


class Fails(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Fails("\n".join(str(one) for one in what))


# What packs the tarball is loaded with: as well as xz can it takes ten seconds, and is not tested here.
QUICKLY = "import functools, lzma\nlzma.LZMACompressor = functools.partial(lzma.LZMACompressor, preset=0)\n"


class Copy:
    """A clone with the tree's release script and spec, as one commit of somebody."""

    def __init__(self, folder):
        self.folder = folder
        quickly = folder.parent / "quickly"
        quickly.mkdir()
        (quickly / "sitecustomize.py").write_text(QUICKLY)
        self.environment = {**os.environ, "PYTHONPATH": str(quickly),
                            **{f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER")
                               for what, text in (("NAME", "Somebody"), ("EMAIL", "somebody@localhost"))}}
        self.run("git", "clone", "--quiet", "--no-tags", ROOT, folder, where=ROOT)
        for path in "scripts/release", "packaging/trackway.spec":
            (folder / path).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "--allow-empty", "--message", "as it is")

    def run(self, *command, where=None, good=True, **variables):
        done = subprocess.run(command, cwd=where or self.folder, env={**self.environment, **variables}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        expect((done.returncode == 0) == good, command, done.returncode, done.stdout, done.stderr)
        return done

    def text(self, path):
        return (self.folder / path).read_text()

    def state(self):
        asked = ("rev-parse", "HEAD"), ("tag", "--list"), ("status", "--porcelain")
        return [self.run("git", *words).stdout for words in asked]

    def refuses(self, words, *command, **variables):
        before = self.state()
        done = self.run("scripts/release", *command, good=False, **variables)
        expect(re.fullmatch("release: .*\n", done.stderr.splitlines(True)[-1]) and words in done.stderr, done.stderr)
        expect(self.state() == before, "the tree is another", before, self.state())


def refused(copy):
    copy.refuses("say --tests-passed", VERSION)
    copy.refuses("not three numbers", "1.2", "--tests-passed")
    copy.refuses("is less than", "0.0.9", "--tests-passed")
    copy.refuses("invalid day value", VERSION, "--tests-passed", "--date", "2031-12-32")
    (copy.folder / "README.md").open("a").write("more\n")
    copy.refuses("the tree has changes", VERSION, "--tests-passed")
    copy.run("git", "checkout", "--quiet", "README.md")
    copy.run("git", "tag", "v" + VERSION)
    copy.refuses("there is a tag", VERSION, "--tests-passed")
    copy.refuses("there is a tag", VERSION, "--tests-passed", "--dry-run")
    copy.run("git", "tag", "--delete", "v" + VERSION)


def looked(copy):
    before = copy.state()
    said = copy.run("scripts/release", VERSION, "--tests-passed", "--date", DAY, "--dry-run").stdout
    expect(re.fullmatch(rf"from [\d.]* to {VERSION} of {DAY}, tag v{VERSION} on \w*: can be made\n", said), said)
    expect(copy.state() == before, "the tree is another", before, copy.state())


def undone(copy):
    """A step that fails leaves neither commit nor tag."""
    tools = copy.folder.parent / "tools"
    tools.mkdir()
    (tools / "meson").write_text("#!/bin/sh\nexit 1\n")
    (tools / "meson").chmod(0o755)
    copy.refuses("meson", VERSION, "--tests-passed", PATH=f"{tools}:{os.environ['PATH']}")


def made(copy):
    done = copy.run("scripts/release", VERSION, "--tests-passed", "--date", DAY, "--no-build")
    expect(f"git push origin HEAD v{VERSION}" in done.stdout, done.stdout)
    expect(copy.run("git", "status", "--porcelain").stdout == "", "the tree is clean")
    commit = copy.run("git", "rev-parse", "HEAD").stdout
    expect(copy.run("git", "rev-parse", f"v{VERSION}^{{commit}}").stdout == commit, "the tag is of the commit")
    expect(copy.run("git", "cat-file", "-t", "v" + VERSION).stdout == "tag\n", "the tag has a message")
    expect(copy.run("git", "log", "-1", "--format=%s").stdout == f"release: {VERSION}\n", "the commit's subject")


def told(copy):
    """Every place that has a version."""
    expect(copy.text("CHANGELOG.md").startswith(f"# Changes\n\n## {VERSION}, {DAY}\n"), "CHANGELOG's heading")
    header = copy.text("include/trackway/version.h")
    expect(f'TW_VERSION "{VERSION}"' in header and "TW_VERSION_NUMBER 0x07020d\n" in header, header)
    expect(f"version: '{VERSION}'," in copy.text("meson.build"), "meson.build")
    expect(f'version = "{VERSION}"' in copy.text("python/pyproject.toml"), "pyproject.toml")
    expect('VERSION = "7.2"' in copy.text("python/trackway/_library.py"), "the package for Python")
    expect(copy.text("tests/cli/cases/version.out").startswith(f"trackway {VERSION}\n"), "the test of --version")
    if shutil.which("dpkg-parsechangelog"):
        parsed = copy.run("dpkg-parsechangelog", "--show-field", "Version").stdout
        expect(parsed == f"{VERSION}-1\n", parsed)
        parsed = copy.run("dpkg-parsechangelog", "--show-field", "Date").stdout
        expect(parsed == "Wed, 24 Dec 2031 12:00:00 +0000\n", parsed)
    old = re.search(r"^  version: '([^']*)'", (ROOT / "meson.build").read_text(), re.M)[1]
    left = subprocess.run(["git", "grep", "-lIF", "trackway " + old], cwd=copy.folder, text=True,
                          stdout=subprocess.PIPE, check=False).stdout
    expect(left == "", "the old version is left in", left)


def tarball(copy):
    """The files of the tag and no other, under one folder; the digest beside it."""
    path = copy.folder / f"build-release/meson-dist/trackway-{VERSION}.tar.xz"
    digest = path.with_name(path.name + ".sha256sum").read_text().split()
    expect(digest == [hashlib.sha256(path.read_bytes()).hexdigest(), "*" + path.name], digest)
    with tarfile.open(path) as archive:
        there = {name.name for name in archive if not name.isdir()}
    files = copy.run("git", "ls-tree", "-r", "-z", "--name-only", "v" + VERSION).stdout.split("\0")
    wanted = {f"trackway-{VERSION}/{name}" for name in files if name}
    expect(there == wanted, "differ:", sorted(there ^ wanted)[:20])


def spec(copy):
    if shutil.which("rpmspec"):
        said = copy.run("rpmspec", "--query", "--queryformat", "%{version}\n", "packaging/trackway.spec").stdout
        expect(set(said.split()) == {VERSION}, said)
    newest = copy.text("packaging/trackway.spec").split("%changelog\n")[1].splitlines()[0]
    expect(re.fullmatch(rf"\* Wed Dec 24 2031 .* <.*> - {VERSION}-1", newest), newest)
    if shutil.which("rpmlint"):
        said = copy.run("rpmlint", "-r", ROOT / "packaging/trackway.rpmlintrc", "packaging/trackway.spec").stdout
        expect("0 errors, 0 warnings" in said, said)


TESTS = {
    "what it refuses, it leaves as it was": refused,
    "a dry run changes nothing": looked,
    "a step that fails is undone": undone,
    "a release is a commit with a tag": made,
    "every place tells the version": told,
    "the tarball has the files of the tag": tarball,
    "the RPM spec is well-formed": spec,
}


def main():
    print("TAP version 13")
    if subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False).returncode:
        print("1..0 # SKIP the sources are in no repository")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(pathlib.Path(folder) / "copy")
        for number, (name, test) in enumerate(TESTS.items(), 1):
            try:
                test(copy)
                print(f"ok {number} - {name}", flush=True)
            except Fails as error:
                failed += 1
                print(f"not ok {number} - {name}")
                print("".join(f"# {line}\n" for line in str(error).splitlines()), end="", flush=True)
    print(f"1..{len(TESTS)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
