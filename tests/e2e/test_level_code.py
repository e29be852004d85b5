"""Level `code` through the real command: programs of one's own, an interruption, refusals."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from ciguard_command import (
    answer,
    batches_noted,
    command,
    lines_of,
    run_of,
    started,
    wait_until,
)

if TYPE_CHECKING:
    from pathlib import Path

TARGET = "torch==2.13.0"
PROGRAM = """\
import torch
from torch import nn

torch.manual_seed(0)
inputs = torch.randn(8, 6)
wanted = torch.randn(8, 1)
model = nn.Sequential(
    nn.Linear(6, 12),
    nn.ReLU(),
    nn.Dropout(p=0.1),
    nn.Linear(12, 1),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad()
step = nn.functional.mse_loss(model(inputs), wanted)
step.backward()
optimizer.step()
loss = step.item()
print(loss)
"""


def run(*words: str) -> list[str]:
    return command("run", "--level", "code", "--target", TARGET, "--out", "out", *words)


@pytest.mark.library("torch")
def test_own_program_is_split_without_false_findings(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")

    # torch 2.13.0 fails in these: a true finding, but not about this program.
    left_out = ("--exclude", "torch.nn.LazyInstanceNorm*")
    done = answer(run("--program", "train.py", "--max-cases", "48", *left_out), tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    tally = run_of(tmp_path / "out")["targets"][0]["outcomes"]
    assert tally["passed"] > 20
    assert not {"crashed", "errored", "hung"} & {kind for kind, count in tally.items() if count}
    failing = [b for b in lines_of(tmp_path / "out" / "buckets.jsonl") if b["severity"] != "low"]
    assert failing == []


@pytest.mark.library("torch")
@pytest.mark.slow
def test_killed_campaign_is_resumed(tmp_path: Path) -> None:
    words = ("--program", "lenet", "--seed", "3")
    with started(run(*words, "--max-cases", "60", "--budget", "120s"), tmp_path) as process:
        assert wait_until(lambda: batches_noted(tmp_path / "out") >= 4, timeout_s=100)
        process.send_signal(signal.SIGKILL)
    done = batches_noted(tmp_path / "out")

    ended = answer(run("--resume"), tmp_path)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert batches_noted(tmp_path / "out") > done


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("nothing", "seed program"),
        ("missing.py", "missing.py"),
        ("x*", "seed program"),
    ],
)
def test_unknown_seed_programs_are_rejected(program: str, says: str, tmp_path: Path) -> None:
    done = answer(run("--program", program), tmp_path)

    assert done.returncode == 2
    assert says in done.stderr
    assert program in done.stderr
    assert not (tmp_path / "out").exists()


def test_targets_without_seed_programs_are_rejected(tmp_path: Path) -> None:
    words = command("run", "--level", "code", "--target", "keras==3.15.1 + jax", "--out", "out")

    done = answer(words, tmp_path)

    assert done.returncode == 2
    assert "torch" in done.stderr
    assert "code" in done.stderr


@pytest.mark.library("torch")
def test_program_that_cannot_be_split_is_reported(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("import torch\nprint(torch.ones(3).sum())\n", "utf-8")

    done = answer(run("--program", "odd.py", "--budget", "20s"), tmp_path)

    assert done.returncode == 2
    assert "odd.py" in done.stdout + done.stderr
