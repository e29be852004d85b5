"""A level of another package: run, confirmed, minimised, filed, replayed."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from ciguard_command import PLANTED, answer, command, lines_of

if TYPE_CHECKING:
    from pathlib import Path


def run(*words: str) -> list[str]:
    targets = [word for target in PLANTED for word in ("--target", target)]
    limits = ("--seed", "5", "--max-cases", "96", "--budget", "120s", "--out", "out")
    return command("run", "--level", "steps", *targets, *limits, *words)


def test_level_of_another_package_goes_the_whole_way(tmp_path: Path) -> None:
    sound = command("run", "--api", "planted.double", "--target", PLANTED[0], "--max-cases", "16")
    assert answer(sound, tmp_path).returncode == 0  # so that there is a baseline

    first = answer(run("--issues", "local:issues"), tmp_path)

    assert first.returncode == 1, first.stdout + first.stderr
    buckets = {bucket["api"]: bucket for bucket in lines_of(tmp_path / "out" / "buckets.jsonl")}
    assert set(buckets) == {"planted.checked", "planted.fragile"}
    checked = buckets["planted.checked"]
    assert checked["level"] == "steps"
    assert checked["confirmed"]
    assert checked["reproduced"]
    assert checked["case"] == ["planted.checked", "step", [1000, 1, 0]]
    ran = answer([sys.executable, f"out/{checked['reproducer']}"], tmp_path)
    assert ran.returncode == -signal.SIGABRT
    again = answer(command("reproduce", checked["fingerprint"], "--out", "out"), tmp_path)
    assert again.returncode == 1, again.stdout + again.stderr
    issues = list((tmp_path / "issues").rglob("*.md"))
    assert any("planted.checked(1000 + 1)" in issue.read_text("utf-8") for issue in issues)

    second = answer(run(), tmp_path)

    assert second.returncode == 0, second.stdout + second.stderr
    replayed = lines_of(tmp_path / "out" / "buckets.jsonl")
    assert {bucket["comparison"] for bucket in replayed} == {"known"}


def test_what_a_package_found_that_is_gone_is_kept_and_never_called_fixed(tmp_path: Path) -> None:
    (tmp_path / "issues").mkdir()
    answer(run(), tmp_path)
    corpus = next((tmp_path / ".ciguard" / "baseline").rglob("corpus.jsonl"))
    corpus.write_text(corpus.read_text("utf-8").replace('"step"', '"stride"'), "utf-8")
    before = lines_of(corpus)

    done = answer(
        command("run", "--api", "planted.double", "--target", PLANTED[0], "--max-cases", "16"),
        tmp_path,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Buckets: 0 new, 2 not run" in done.stdout
    assert lines_of(corpus) == before
    shown = answer(command("show", "--baseline", ".ciguard/baseline"), tmp_path)
    assert shown.returncode == 0, shown.stderr


def test_level_that_nobody_brings_is_refused_by_its_name(tmp_path: Path) -> None:
    done = answer(command("run", "--level", "stesp", "--target", PLANTED[0]), tmp_path)

    assert done.returncode == 2
    assert "level 'stesp': no such level. Did you mean 'steps'?" in done.stderr
