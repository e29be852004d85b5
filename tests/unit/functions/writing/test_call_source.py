"""Scripts of failures, executed: each fails like its call."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import pytest
from annotated import Annotated

from ciguard.functions.hosting.verdicts import CallFailure, verdict_from_json
from ciguard.functions.specs import Call, ProgramFile
from ciguard.functions.writing.call_source import CallSource
from ciguard.functions.writing.scripts import script_of


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path[:])


def script(program: Annotated, name: str, library: str = "") -> tuple[str, CallFailure]:
    """Return the script of the first call that fails, and the failure."""
    for call in program.calls(name):
        verdict = verdict_from_json(program.run(call)) if call is not None else None
        if isinstance(call, Call) and isinstance(verdict, CallFailure):
            source = CallSource.for_module(program.spec, library)
            where = ProgramFile(Path("annotated_program.py"), Path(), program.module.__name__)
            return script_of(call, verdict, source, where), verdict
    pytest.fail(f"no call of {name} fails")


@pytest.mark.parametrize(
    ("source", "name", "written"),
    [
        (
            """
            import enum
            class Pooling(enum.Enum):
                MEAN = 1
                MAX = 2
            def f(kind: Pooling, n: Annotated[int, Range(1, 3)]): raise KeyError(kind)
            """,
            "f",
            "kind=Pooling.",
        ),
        (
            """
            def double(x): return 2 * x
            @arg("fn", froms([double]))
            def f(fn): raise KeyError(fn(1))
            """,
            "f",
            "fn=double",
        ),
        (
            """
            from types import SimpleNamespace
            class Dtype:
                def __repr__(self): return "library.float32"
            library = SimpleNamespace(float32=Dtype())
            @arg("dtype", froms([library.float32]))
            def f(dtype): raise KeyError(dtype)
            """,
            "f",
            "dtype=library.float32",
        ),
        (
            """
            @arg("fn", froms([lambda x: x]))
            def f(fn): raise KeyError(fn(1))
            """,
            "f",
            'listed(f, "fn")',
        ),
        (
            """
            class Net:
                @arg("fn", froms([lambda x: x]))
                def __init__(self, fn): raise KeyError(fn(1))
            """,
            "Net.__init__",
            'listed(Net.__init__, "fn")',
        ),
        (
            """
            class Grid:
                @arg("n", ints(1, 3))
                @cc_example([object(), 2])
                def __init__(self, n, m=0): self.n = n
                @arg("x", ints(0, 1))
                def at(self, x): raise KeyError(type(self.n))
            """,
            "Grid.at",
            'Grid.__init__.__ciguard__["examples"]',
        ),
    ],
)
def test_objects_without_data_form_are_written_by_name_or_looked_up(
    source: str, name: str, written: str
) -> None:
    program = Annotated("from typing import Annotated\n" + textwrap.dedent(source))

    text, _ = script(program, name)

    assert written in text
    with pytest.raises(KeyError):
        exec(text, {})


@pytest.mark.parametrize(
    "source",
    [
        "@arg('x', ints(1, 5))\ndef f(x): yield 1 / 0",
        "@arg('x', ints(1, 5))\nasync def f(x): return 1 / 0",
        "@arg('x', ints(1, 5))\nasync def f(x): yield 1 / 0",
    ],
)
def test_lazy_results_are_consumed_and_coroutines_awaited(source: str) -> None:
    text, failure = script(Annotated(source), "f")

    assert failure.type == "ZeroDivisionError"
    with pytest.raises(ZeroDivisionError):
        exec(text, {})


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("@arg('x', ints(1, 5))\n@ensure('all(t < 0 for t in result)')\ndef f(x): return [x]", "f"),
        ("@arg('x', ints(1, 5))\n@ensure('result < 0')\nasync def f(x): return x", "f"),
        ("@arg('x', ints(1, 5))\n@ensure('len(result) == 0')\ndef f(x): yield x", "f"),
        ("@arg('x', ints(1, 5))\n@ensure('result == n')\ndef f(x, n=7): return x", "f"),
        (
            """
            class Net:
                @arg("n", ints(1, 3))
                def __init__(self, n): self.n = n
                @arg("x", ints(1, 3))
                @ensure("self.n == 0")
                def at(self, x): return x
                @property
                @ensure("result == self.n + 1")
                def size(self): return self.n
            """,
            "Net.at",
        ),
        (
            """
            class Net:
                def __init__(self): self.n = 1
                @property
                @ensure("result == self.n + 1")
                def size(self): return self.n
            """,
            "Net.size",
        ),
        (
            """
            class Net:
                most = 3
                @classmethod
                @arg("n", ints(1, 3))
                @ensure("result > cls.most")
                def of(cls, n): return n
            """,
            "Net.of",
        ),
    ],
)
def test_postconditions_can_use_all_their_names(source: str, name: str) -> None:
    text, failure = script(Annotated(source), name)

    assert failure.type == "Postcondition"
    with pytest.raises(AssertionError):
        exec(text, {})


def test_a_keras_layer_is_written_as_a_call_of_the_layer() -> None:
    program = Annotated(
        """
        class Layer:
            def __call__(self, *args, **options):
                self.size = 0
                return self.call(*args, **options)
        Layer.__module__ = "keras.layers"

        class Invert(Layer):
            @arg("x", ints(1, 3))
            @arg("training", bools())
            def call(self, x, training=False): return x / self.size
        """
    )

    text, failure = script(program, "Invert.call")

    assert failure.type == "ZeroDivisionError"
    assert re.search(r"^Invert\(\)\(\d, training=(True|False)\)$", text, re.MULTILINE)
    with pytest.raises(ZeroDivisionError):
        exec(text, {})
