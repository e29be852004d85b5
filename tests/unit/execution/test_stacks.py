"""Lines of faulthandler's stacks are read back as Python had them."""

from __future__ import annotations

import faulthandler
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.execution.stacks import StackLine, stack_line

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("file", ["/jürgen's/модель.py", "/a b/模型\U0001f600.py", '/a", b.py'])
def test_a_path_is_unescaped(tmp_path: Path, file: str) -> None:
    stack = tmp_path / "stack"
    source = "with open(stack, 'w') as out: dump(out, all_threads=False)"
    exec(compile(source, file, "exec"), {"stack": stack, "dump": faulthandler.dump_traceback})

    lines = stack.read_text("ascii").splitlines()
    assert stack_line(lines[1]) == StackLine(file, 1, "<module>")
    assert stack_line(lines[0]) is None


def test_an_undecodable_byte_stays_escaped() -> None:
    line = r'  File "/a\udcff\x0a.py", line ??? in f'

    assert stack_line(line) == StackLine(r"/a\udcff\x0a.py", 0, "f")


@given(st.text())
def test_any_line_is_a_frame_or_none(text: str) -> None:
    assert stack_line(text) is None
    line = stack_line(f'  File "{text}", line {text} in {text}')
    assert line is None or "\n" not in line.file
