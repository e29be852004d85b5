"""Exported tests, executed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from annotated import Annotated

from ciguard.functions.hosting import CollectedProgram
from ciguard.functions.specs import ProgramFile
from ciguard.functions.writing.files import exported_file

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import abc
class Net:
    most = 9
    @arg("size", ints(1, 4))
    @cc_example([2])
    def __init__(self, size): self.size = size
    @arg("n", ints(0, 4))
    @require("n < self.size")
    @ensure("result < self.size and result == n")
    def first(self, n):
        assert n < self.size
        return n
    @arg("n", ints(0, 4))
    @arg("m", ints(0, 4))
    @require("n + m < self.size and m <= n")
    def both(self, n, m): assert n + m < self.size
    @property
    @ensure("result == self.size + 1")
    def wrong(self): return self.size
    @classmethod
    @arg("n", ints(0, 4))
    @ensure("result < cls.most")
    def of(cls, n): return n

class Base(abc.ABC):
    @arg("n", ints(0, 4))
    def __init__(self, n): pass
    @abc.abstractmethod
    def at(self): ...

@arg("n", ints(0, 4))
@ensure("result == n * factor")
def scaled(n, factor=3): return n * factor

@arg("n", ints(1, 4))
async def awaited(n): return 1 // (n - 1)

@arg("n", ints(1, 4))
@require([lambda n: n > 1, lambda n: n > 2][0])
def unwritten(n): pass
"""


def test_exported_tests_define_all_names_that_conditions_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", sys.path[:])
    program = Annotated(PROGRAM)
    assert program.problems == []
    program_file = ProgramFile(tmp_path / "annotated_program.py", tmp_path, program.module.__name__)

    text, missing = exported_file(CollectedProgram(program.spec), program_file, tmp_path)
    namespace: dict[str, Any] = {"__file__": str(tmp_path / "test_exported.py")}
    exec(text, namespace)

    tests = {name: item for name, item in namespace.items() if name.startswith("test_")}
    failing = {"test_Net_wrong": AssertionError, "test_awaited": ZeroDivisionError}
    for name, test in tests.items():
        if name in failing:
            with pytest.raises(failing[name]):
                test()
        else:
            test()
    assert set(tests) == failing.keys() | {
        "test_Net", "test_Net_first", "test_Net_both", "test_Net_of", "test_scaled",
    }  # fmt: skip
    assert [line.partition(":")[0] for line in missing] == ["Base.__init__", "unwritten"]
