"""`ciguard function suggest` in a project: what it prints, and that its diff applies."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from command_server import answer
from snapshot import assert_matches

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = '''\
"""A small network."""

from torch import nn


def build(inputs, widths, dropout=0.1, head=None):
    if not 0 <= dropout < 1:
        raise ValueError(dropout)
    layers = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(dropout)]
        inputs = width
    return nn.Sequential(*layers, head)
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    subprocess.run(["/usr/bin/env", "git", "init", "-q", tmp_path], check=True)
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "small.py").write_text(PROGRAM)
    (tmp_path / "train.py").write_text("from nets.small import build\n\nbuild(12, [8, 4])\n")
    return tmp_path


def suggest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return answer("suggest", *words, folder=folder)


def test_suggest_prints_reasons_and_a_diff_that_applies(project: Path) -> None:
    done = suggest(project, "nets/small.py")
    assert_matches("suggest", f"{done.returncode}\n{done.stdout}{done.stderr}", folder=project)
    subprocess.run(
        ["/usr/bin/env", "git", "apply"], cwd=project, input=done.stdout, text=True, check=True
    )
    again = suggest(project, "nets/small.py")
    assert "---" not in again.stdout  # nothing is proposed twice
    program = (project / "nets" / "small.py").read_text("utf-8")
    assert program.index("@arg(") < program.index("def build")


def test_suggest_prints_one_diff_for_several_files(project: Path) -> None:
    (project / "nets" / "wide.py").write_text(PROGRAM.replace("build", "wide"))
    (project / "nets" / "empty.py").write_text("")

    done = suggest(project, "nets/small.py", "nets/empty.py", "nets/wide.py")
    subprocess.run(
        ["/usr/bin/env", "git", "apply"], cwd=project, input=done.stdout, text=True, check=True
    )
    refused = suggest(project, "nets/small.py", "nets/wide.py", "--sidecar")

    for name in ("small", "wide"):
        assert "@arg(" in (project / "nets" / f"{name}.py").read_text("utf-8")
    assert "nets/empty.py: nothing is proposed" in done.stderr
    assert refused.returncode == 2
    assert "name one program" in refused.stderr


def test_suggest_prints_a_sidecar_on_stdout_and_reasons_on_stderr(project: Path) -> None:
    done = suggest(project, "nets/small.py", "--sidecar", "--function", "bu*")
    assert done.stdout.startswith('"""Annotations of small.py."""\n')
    assert "def build(inputs, widths, dropout=0.1, head=None): ..." in done.stdout
    assert "# build (line 6)\n" in done.stderr
    none = suggest(project, "nets/small.py", "--function", "other")
    assert (none.returncode, none.stdout) == (0, "")
    assert none.stderr == "nets/small.py: nothing is proposed, as it has no function 'other'.\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"def (\n", "SyntaxError"), (b"\xff\xfe", "not UTF-8 text"), (b"x" * 2**21, "larger than")],
)
def test_suggest_rejects_an_unreadable_file(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.py").write_bytes(content)
    done = suggest(tmp_path, "bad.py")
    assert done.returncode == 2
    assert "bad.py cannot be read: " in done.stderr
    assert message in done.stderr
