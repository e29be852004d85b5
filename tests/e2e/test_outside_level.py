"""A level of another package: run, confirmed, minimised, filed, replayed."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from ciguard_command import PLANTED, Answer, answer, command, lines_of, run_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeAlias

    Ciguard: TypeAlias = Callable[..., Answer]


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


def test_buckets_of_a_removed_level_are_kept_and_not_fixed(tmp_path: Path) -> None:
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


def test_unregistered_level_is_rejected_with_its_name(tmp_path: Path) -> None:
    done = answer(command("run", "--level", "stesp", "--target", PLANTED[0]), tmp_path)

    assert done.returncode == 2
    assert "level 'stesp': no such level. Did you mean 'steps'?" in done.stderr


@pytest.fixture
def with_settings(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Ciguard:
    """Run commands where a distribution registers the settings of the level.

    The planted one does not: they would be in the help that pages quote.
    """
    site = tmp_path_factory.mktemp("site")
    register(site, "ciguard_planted.settings:SETTINGS")

    def ciguard(*words: str) -> Answer:
        return answer(command(*words), tmp_path, PYTHONPATH=str(site))

    return ciguard


def register(site: Path, settings: str, *, name: str = "steps") -> None:
    registered = site / "steps-1.0.dist-info"
    registered.mkdir()
    (registered / "METADATA").write_text("Metadata-Version: 2.1\nName: steps\nVersion: 1.0\n")
    (registered / "entry_points.txt").write_text(f"[ciguard.settings]\n{name} = {settings}\n")


def test_its_setting_is_read_from_file_variable_and_command_line(
    with_settings: Ciguard, tmp_path: Path
) -> None:
    (tmp_path / "ciguard.toml").write_text("steps-largest = 100\n")

    shown = with_settings("config", "--json")
    overridden = with_settings("config", "--json", "--steps-largest", "10")
    helped = with_settings("run", "--help")

    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["settings"]["steps-largest"] == {
        "value": 100,
        "source": "file",
        "name": "ciguard.toml",
    }
    assert json.loads(overridden.stdout)["settings"]["steps-largest"]["value"] == 10
    assert "--steps-largest N" in helped.stdout
    assert "steps (numbers a step" in " ".join(helped.stdout.split())


def test_its_setting_decides_what_is_run(with_settings: Ciguard, tmp_path: Path) -> None:
    (tmp_path / "ciguard.toml").write_text("steps-largest = 100\n")
    words = run("--api", "planted.checked")[len(command()) :]

    small = with_settings(*words)

    assert small.returncode == 0, small.stdout + small.stderr
    assert not lines_of(tmp_path / "out" / "buckets.jsonl")
    assert run_of(tmp_path / "out")["parameters"]["steps_largest"] == 100

    large = with_settings(*words, "--steps-largest", "1000")

    assert large.returncode == 1, large.stdout + large.stderr
    assert lines_of(tmp_path / "out" / "buckets.jsonl")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "steps-larges = 100",
            "ciguard.toml: steps-larges: no such setting. Did you mean 'steps-largest'?",
        ),
        (
            "steps-largest = 5000",
            "ciguard.toml: steps-largest = 5000: out of range. Write a whole",
        ),
    ],
)
def test_invalid_value_of_its_setting_is_an_error_with_place_and_remedy(
    with_settings: Ciguard, tmp_path: Path, line: str, message: str
) -> None:
    (tmp_path / "ciguard.toml").write_text(f"{line}\n")

    done = with_settings("config")

    assert done.returncode == 2
    assert message in done.stderr


def test_settings_that_cannot_be_loaded_are_named_without_a_traceback(tmp_path: Path) -> None:
    register(tmp_path, "ciguard_planted.settings:NOTHING")

    done = answer(command("version"), tmp_path, PYTHONPATH=str(tmp_path))

    assert done.returncode == 2
    assert "error: entry point 'steps' of ciguard.settings cannot be loaded" in done.stderr
    assert "Traceback" not in done.stderr


def test_its_command_runs_and_is_listed_with_its_help(with_settings: Ciguard) -> None:
    listed = with_settings("--help")
    helped = with_settings("steps", "--help")
    done = with_settings("steps", "starts", "--largest", "100")
    ungrouped = with_settings("starts")

    assert "steps Numbers a step away from a round one: starts." in " ".join(listed.stdout.split())
    assert "starts  List the numbers that cases begin at." in helped.stdout
    assert (done.returncode, done.stdout) == (0, "0\n10\n100\n"), done.stderr
    assert ungrouped.returncode == 2  # only ciguard's own have names from before


def test_a_level_that_is_named_as_a_command_is_and_declares_commands_is_refused(
    tmp_path: Path,
) -> None:
    register(tmp_path, "ciguard_planted.settings:SETTINGS", name="plan")

    done = answer(command("version"), tmp_path, PYTHONPATH=str(tmp_path))

    assert done.returncode == 2
    assert "error: level 'plan' declares commands, but ciguard already has a command" in done.stderr
    assert "Traceback" not in done.stderr
