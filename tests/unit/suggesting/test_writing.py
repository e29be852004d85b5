"""Proposals as a diff that can be applied, and as a sidecar file."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from ciguard.suggesting import FunctionProposals, as_diff, as_sidecar, module_of, suggestions

PROGRAM = '''\
"""A program."""

from __future__ import annotations

import math


def scale(epochs, x):
    return x * epochs


class Net:
    @property
    def size(self):
        return 1

    @staticmethod
    def make(layers, *, use_bias=False, name=len("four")):
        return layers


if __name__ == "__main__":
    scale(3, 3.14)
'''


def proposed(source: str) -> list[FunctionProposals]:
    return suggestions(module_of(source, Path("program.py"), "program.py"), [], lambda _: None)


def applied(source: str, folder: Path, *command: str) -> str:
    """Return a program after its diff was applied to the file, byte by byte."""
    path = folder / "program.py"
    path.write_bytes(source.encode())
    diff = "# a reason\n" + as_diff(source, "program.py", proposed(source))
    done = subprocess.run(
        command, cwd=folder, input=diff.encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return path.read_bytes().decode()


@pytest.fixture(params=["git", "patch"])
def command(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "git":
        return ["git", "apply", "--whitespace=nowarn"]
    return ["patch", "-p1", "--binary"]


def test_the_diff_inserts_decorators_and_the_import(tmp_path: Path, command: list[str]) -> None:
    changed = applied(PROGRAM, tmp_path, *command)
    expected = PROGRAM.replace(
        "import math\n",
        "import math\nfrom ciguard.annotations import arg, bools, floats, ints\n",
    )
    expected = expected.replace(
        "def scale",
        '@arg("epochs", ints(min=1, max=8))\n@arg("x", floats(min=0.314, max=6.28))\ndef scale',
    )
    lines = ['@arg("layers", ints(min=1, max=8))', '@arg("use_bias", bools())', "def make"]
    expected = expected.replace("def make", "\n    ".join(lines))
    assert ast.dump(ast.parse(changed)) == ast.dump(ast.parse(expected))
    kept = [line for line in changed.splitlines() if line in PROGRAM.splitlines()]
    assert kept == PROGRAM.splitlines()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rstrip("\n"),
        lambda text: text.partition("\n\n\nif __name__")[0].replace("x):", "x=2.0):"),
        lambda text: text.partition("import math\n")[2],
        lambda text: "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n" + text,
        lambda text: text.replace('"""A program."""', "# Größe\n'''Two\nlines.'''"),
    ],
)
def test_the_diff_applies_to_files_with_any_line_ends_and_headers(
    tmp_path: Path, command: list[str], change: object
) -> None:
    assert callable(change)
    source = change(PROGRAM)
    changed = applied(source, tmp_path, *command)
    assert changed.count('@arg("epochs", ints(min=1, max=8))') == 1
    assert changed.endswith("\n") == source.endswith("\n")
    assert ("\r\n" in changed) == ("\r\n" in source)
    endings = {line[len(line.rstrip()) :] for line in changed.splitlines(keepends=True)[:-1]}
    assert endings == {"\r\n" if "\r" in source else "\n"}
    head = [node for node in ast.parse(changed).body if isinstance(node, ast.ImportFrom)]
    assert [node.module for node in head][-1] == "ciguard.annotations"


def test_an_existing_import_is_extended(tmp_path: Path) -> None:
    source = dedent(
        """\
        from ciguard.annotations import (
            arg,
            strings,
        )


        @arg("name", strings())
        def f(name, epochs):
            pass
        """
    )
    changed = applied(source, tmp_path, "git", "apply")
    assert changed.startswith("from ciguard.annotations import arg, ints, strings\n\n\n@arg")
    guess = '@arg("epochs", ints(min=1, max=8))  # guessed from the name'
    assert f'@arg("name", strings())\n{guess}\ndef f' in changed


def test_names_of_the_program_are_not_shadowed(tmp_path: Path) -> None:
    source = "def ints(n, use_it):\n    return n\n"
    changed = applied(source, tmp_path, "git", "apply")
    assert changed.splitlines()[:3] == [
        "from ciguard import annotations",
        '@annotations.arg("n", annotations.ints(min=1, max=8))  # guessed from the name',
        '@annotations.arg("use_it", annotations.bools())  # guessed from the name',
    ]


def test_the_diff_without_proposals_is_empty() -> None:
    assert as_diff("def f(x):\n    pass\n", "f.py", proposed("def f(x):\n    pass\n")) == ""


def test_a_sidecar_repeats_names_and_signatures() -> None:
    text = as_sidecar("program.py", proposed(PROGRAM))
    assert text == dedent(
        '''\
        """Annotations of program.py."""

        from ciguard.annotations import arg, bools, floats, ints


        @arg("epochs", ints(min=1, max=8))
        @arg("x", floats(min=0.314, max=6.28))
        def scale(epochs, x): ...


        class Net:
            @arg("layers", ints(min=1, max=8))  # guessed from the name
            @arg("use_bias", bools())
            def make(layers, *, use_bias=False, name=...): ...
        '''
    )


def test_a_sidecar_writes_each_class_once() -> None:
    source = dedent(
        """\
        class A:
            def one(self, epochs): ...

            class B:
                def two(self, epochs): ...

            def three(self, epochs): ...


        class C:
            def four(self, epochs): ...


        def five(epochs): ...
        """
    )
    text = as_sidecar("program.py", proposed(source))
    bare = text.partition("ints\n")[2].lstrip("\n")
    decorator = '@arg("epochs", ints(min=1, max=8))'
    assert (
        "".join(line for line in bare.splitlines(keepends=True) if decorator not in line) == source
    )


def test_a_sidecar_without_proposals_is_empty() -> None:
    assert as_sidecar("program.py", []) == ""
