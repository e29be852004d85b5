"""Scripts of failures, executed: each fails as the call did."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from annotated import Annotated

from ciguard.functions import Call, Program
from ciguard.functions.hosting.verdicts import Failure, verdict_from_json
from ciguard.functions.writing.call_source import CallSource, script_of


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path[:])


def script(program: Annotated, name: str, library: str = "") -> tuple[str, Failure]:
    """Return the script of the first call that fails, and the failure."""
    for call in program.calls(name):
        verdict = verdict_from_json(program.run(call)) if call is not None else None
        if isinstance(call, Call) and isinstance(verdict, Failure):
            source = CallSource.of(program.spec, library)
            where = Program(Path("annotated_program.py"), Path(), program.module.__name__)
            return script_of(call, verdict, source, where), verdict
    pytest.fail(f"no call of {name} fails")


@pytest.mark.parametrize(
    ("source", "name", "written"),
    [
        (
            "import enum\n"
            "class Pooling(enum.Enum):\n    MEAN = 1\n    MAX = 2\n"
            "def f(kind: Pooling, n: Annotated[int, Range(1, 3)]):\n"
            "    raise KeyError(kind)",
            "f",
            "kind=Pooling.",
        ),
        (
            "def double(x): return 2 * x\n"
            '@arg("fn", froms([double]))\n'
            "def f(fn): raise KeyError(fn(1))",
            "f",
            "fn=double",
        ),
        (
            '@arg("fn", froms([lambda x: x]))\ndef f(fn): raise KeyError(fn(1))',
            "f",
            'listed(f, "fn")',
        ),
        (
            'class Net:\n    @arg("fn", froms([lambda x: x]))\n'
            "    def __init__(self, fn): raise KeyError(fn(1))",
            "Net.__init__",
            'listed(Net.__init__, "fn")',
        ),
        (
            "class Grid:\n"
            '    @arg("n", ints(1, 3))\n    @cc_example([1])\n    @cc_example([object(), 2])\n'
            "    def __init__(self, n, m=0): self.n = n\n"
            '    @arg("x", ints(0, 1))\n'
            "    def at(self, x): raise KeyError(type(self.n))",
            "Grid.at",
            'Grid.__init__.__ciguard__["examples"]',
        ),
    ],
)
def test_objects_that_are_no_data_are_named_or_looked_up(
    source: str, name: str, written: str
) -> None:
    program = Annotated(f"from typing import Annotated\n{source}")

    text, _ = script(program, name)

    assert written in text
    with pytest.raises(KeyError):
        exec(text, {})  # noqa: S102 - what is tested
