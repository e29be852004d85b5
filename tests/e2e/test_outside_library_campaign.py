"""Campaigns on a library of another package, which one folder describes."""

from __future__ import annotations

import re
import signal
import sys
from typing import TYPE_CHECKING

from ciguard_command import answer, command, lines_of

if TYPE_CHECKING:
    from pathlib import Path

TARGET = "current[tiles]"
PROGRAM = """
import planted_tiles as pt
from planted_tiles import nn

images = pt.normal((8, 3, 2))
model = nn.Sequential(
    nn.Flatten(),
    nn.Linear(6, 4),
    nn.ReLU(),
    nn.Linear(4, 2),
)
output = model(images)
"""


def run(level: str, *words: str) -> list[str]:
    limits = ("--seed", "3", "--max-cases", "200", "--budget", "120s", "--out", "out")
    return command("run", "--level", level, "--target", TARGET, *limits, *words)


def test_campaign_on_a_library_of_another_package_finds_its_defect(tmp_path: Path) -> None:
    done = answer(run("api"), tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr  # the first run makes the baseline
    (bucket,) = lines_of(tmp_path / "out" / "buckets.jsonl")
    assert bucket["api"] == "planted_tiles.outline"
    assert bucket["oracle"] == "crash"
    assert bucket["confirmed"]
    reproducer = tmp_path / "out" / bucket["reproducer"]
    assert "pt.outline(" in reproducer.read_text("utf-8")
    assert answer([sys.executable, str(reproducer)], tmp_path).returncode == -signal.SIGABRT
    assert not list(tmp_path.rglob("store*")), "what is tagged is not called"


def test_programs_of_a_library_of_another_package_are_mutated_and_run(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(PROGRAM, "utf-8")

    done = answer(run("code", "--program", "small.py"), tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    ran = re.search(r"(\d+) cases: (\d+) passed, (\d+) rejected", done.stdout)
    assert ran is not None, done.stdout
    cases, passed, rejected = map(int, ran.groups())
    # A negative number of features, which convention forbids, is rejected as it should be.
    assert 0 < rejected < passed == cases - rejected
    assert lines_of(tmp_path / "out" / "buckets.jsonl") == []
