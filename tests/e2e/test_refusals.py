"""What cannot be used is refused before anything runs: a clear message, and nothing is touched."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from ciguard_command import PLANTED, answer, campaign, command

QUICK = ("--exclude", "*.spin", "--max-cases", "64")


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder but locks, by path."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def established(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Establish a baseline of some buckets."""
    folder = tmp_path_factory.mktemp("established")
    done = answer(campaign(*QUICK), folder)
    assert done.returncode == 0, done.stderr
    baseline = folder / ".ciguard" / "baseline"
    assert len((baseline / "buckets.jsonl").read_text("utf-8").splitlines()) > 1
    return baseline


@pytest.fixture
def baseline(established: Path, tmp_path: Path) -> Path:
    """Return a copy of the baseline, to be damaged."""
    return Path(shutil.copytree(established, tmp_path / ".ciguard" / "baseline"))


def newer_header(text: str) -> str:
    header, _, rest = text.partition("\n")
    return json.dumps({**json.loads(header), "schema": 99}) + "\n" + rest


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("buckets.jsonl", newer_header, "a newer version of ciguard wrote the baseline (schema 99"),
        ("buckets.jsonl", lambda _: "\x00\x01 nothing\n", "not the header of a baseline"),
        ("buckets.jsonl", lambda text: text[: len(text) // 2], "buckets.jsonl, line"),
        ("buckets.jsonl", lambda text: text + "{}\n", "buckets.jsonl, line"),
        ("frontier.json", lambda _: '{"schema": 99}', "written by a newer ciguard (schema 99"),
        ("frontier.json", lambda text: text[:-9], "frontier.json: cannot be read"),
    ],
)
def test_unreadable_baseline_is_not_changed(
    baseline: Path, tmp_path: Path, name: str, change: object, says: str
) -> None:
    path = baseline / name
    assert callable(change)
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    before = contents(baseline)

    done = answer(campaign(*QUICK, "--out", "second"), tmp_path)

    assert done.returncode == 2, done.stdout
    assert says in done.stderr
    assert str(path.relative_to(tmp_path)) in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(baseline) == before
    assert not (tmp_path / "second").exists()


def test_corpus_case_that_was_changed_is_rejected(baseline: Path, tmp_path: Path) -> None:
    (baseline / "corpus.jsonl").write_text('{"case": "another"}', "utf-8")
    before = contents(baseline)

    done = answer(campaign(*QUICK), tmp_path)

    assert done.returncode == 2
    assert "corpus.jsonl, line 1: " in done.stderr
    assert contents(baseline) == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('buget = "3m"\n', "ciguard.toml: buget: no such setting. Did you mean 'budget'?"),
        ('budget = "soon"\n', "ciguard.toml: budget = 'soon'"),
        ("targets = torch\n", "ciguard.toml: not valid TOML"),
        ("resume = true\n", "applies to a single run, so files cannot set it"),
    ],
)
def test_invalid_configuration_is_an_error_with_file_and_key(
    tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "ciguard.toml").write_text(text, "utf-8")

    done = answer(command("run"), tmp_path)

    assert done.returncode == 2
    assert says in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["ciguard.toml"]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("troch==2.13.0", "Did you mean 'torch'?"),
        ("current[torhc]", "Did you mean 'torch'?"),
        ("torch==2.13.0@gpu", "torch==2.13.0@gpu"),
        ("", "target"),
        ("current[jittor]", "does not have jittor"),
    ],
)
def test_invalid_target_is_an_error_before_a_case_runs(
    tmp_path: Path, target: str, says: str
) -> None:
    done = answer(command("run", "--target", PLANTED[0], "--target", target), tmp_path)

    assert done.returncode == 2, done.stdout
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / ".ciguard" / "run").exists()


def test_globs_without_a_match_are_rejected(tmp_path: Path) -> None:
    words = ("run", "--target", PLANTED[0], "--api", "plented.*")

    done = answer(command(*words), tmp_path)

    assert done.returncode == 2
    assert "matches no API of planted" in done.stderr


def test_output_folder_that_is_a_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine", "utf-8")

    done = answer(campaign(*QUICK, "--out", "out"), tmp_path)

    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert (tmp_path / "out").read_text("utf-8") == "mine"
