"""Level `function` through the real command: a planted failure, its mended twin, refusals."""

from __future__ import annotations

import json
import re
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest
from ciguard_command import (
    PLANTED,
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

PROGRAM = """\
import numpy as np
from ciguard.annotations import arg, ensure, ints, np_arrays, raises, require

from shapes import halves


@arg("series", np_arrays("float64", ("n",), min=-10, max=10))
@arg("size", ints(1, 6))
@require("size <= len(series)")
def windows(series, size):
    starts = range(len(series) - size + {past})
    return np.stack([series[start : start + size] for start in starts])


@arg("x", ints(0, 50))
@ensure("result >= 0")
@raises(ValueError)
def halved(x):
    if x > 40:
        raise ValueError("too large")
    return halves(x)


class Scaler:
    @arg("low", ints(0, 3))
    def __init__(self, low):
        self.low = low

    @arg("x", np_arrays("float32", ("n", 3), min=0, max=1))
    def fit(self, x):
        return self.low + x.sum(axis=0)
"""
OF_VERSIONS = """\
import planted
from ciguard.annotations import arg, ints


@arg("x", ints(0, 9))
def moved(x):
    if planted.__version__ != "1.0":
        raise RuntimeError("it moved in %s" % planted.__version__)
    return x
"""


def project(folder: Path, *, past: int) -> Path:
    """Write a program of two files whose windows reach so far; 1 is right."""
    source = folder / "src"
    source.mkdir(parents=True)
    (source / "model.py").write_text(PROGRAM.replace("{past}", str(past)), "utf-8")
    (source / "shapes.py").write_text("def halves(x):\n    return x // 2\n", "utf-8")
    return folder


def run(*words: str, targets: tuple[str, ...] = PLANTED) -> list[str]:
    chosen = [word for target in targets for word in ("--target", target)]
    return command("run", "--level", "function", *chosen, "--out", "out", *words)


def buckets_after(folder: Path, *words: str) -> list[dict[str, Any]]:
    """Run a campaign on the project and return its buckets."""
    limits = ("--max-cases", "200", "--budget", "60s")
    done = answer(run("--functions", "src/*.py", *limits, *words), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return lines_of(folder / "out" / "buckets.jsonl")


def test_a_planted_failure_is_reported_with_its_line_and_a_failing_script(tmp_path: Path) -> None:
    buckets = buckets_after(project(tmp_path, past=2))

    (bucket,) = (candidate for candidate in buckets if candidate["severity"] != "low")
    assert bucket["api"] == "src/model.py:windows"
    assert (bucket["oracle"], bucket["kind"]) == ("function", "exception")
    assert bucket["confirmed"]
    assert bucket["reproduced"]
    assert len(bucket["targets"]) == 2
    assert "src/model.py, line 12" in bucket["message"]
    completed = answer([sys.executable, f"out/{bucket['reproducer']}"], tmp_path)
    assert completed.returncode == 1
    assert "ValueError: all input arrays must have the same shape" in completed.stderr
    # The simplest call that the annotations allow.
    arguments = dict(bucket["case"][2]["call"]["arguments"])
    assert arguments["size"] == 1
    assert arguments["series"][2] == [1]


def test_a_failure_is_annotated_at_its_line_in_sarif(tmp_path: Path) -> None:
    buckets_after(project(tmp_path, past=2))

    report = json.loads((tmp_path / "out" / "report.sarif").read_text("utf-8"))
    (result,) = (
        candidate
        for candidate in report["runs"][0]["results"]
        if candidate["ruleId"] == "function-fails"
    )
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "src/model.py"
    assert location["region"]["startLine"] == 12


def test_the_corrected_program_has_no_findings(tmp_path: Path) -> None:
    buckets = buckets_after(project(tmp_path, past=1))

    assert buckets == []
    target_summary = run_of(tmp_path / "out")["targets"][0]
    outcomes = target_summary["outcomes"]
    assert target_summary["apis_exercised"] == 0
    assert outcomes["passed"] > 50
    assert outcomes["rejected"] > 0  # what is documented


def test_a_run_fails_for_new_buckets_but_not_for_known_ones(tmp_path: Path) -> None:
    project(tmp_path, past=1)
    buckets_after(tmp_path)
    limits = ("--functions", "src/*.py", "--max-cases", "200", "--budget", "60s")
    source = tmp_path / "src" / "model.py"
    source.write_text(PROGRAM.replace("{past}", "2"), "utf-8")

    new = answer(run(*limits), tmp_path)
    known = answer(run(*limits), tmp_path)

    assert new.returncode == 1, new.stdout + new.stderr
    assert "src/model.py:windows" in new.stdout
    assert known.returncode == 0, known.stdout + known.stderr


def test_a_failure_on_one_target_is_reported_as_a_pair(tmp_path: Path) -> None:
    (tmp_path / "moved.py").write_text(OF_VERSIONS, "utf-8")

    words = ("--functions", "moved.py", "--max-cases", "40", "--budget", "40s")
    done = answer(run(*words), tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    (bucket,) = lines_of(tmp_path / "out" / "buckets.jsonl")
    assert bucket["targets"] == [*PLANTED]
    assert bucket["pair"] == "environment"
    assert f"fails on {PLANTED[1]}, not on {PLANTED[0]}" in bucket["message"]
    assert bucket["reproduced"]


UNIFORM = """\
from ciguard.annotations import arg, ints


@arg("x", ints(0, 999))
def broken(x):
    return [x][1 + x % 7]
"""
SOUND = """

@arg("x", ints(0, 999))
def sound(x):
    return x
"""


@pytest.mark.parametrize(("rest", "passed"), [(SOUND, 600), ("", 0)], ids=["beside", "alone"])
def test_function_that_fails_in_one_way_for_every_input_gets_few_calls(
    tmp_path: Path, rest: str, passed: int
) -> None:
    (tmp_path / "app.py").write_text(UNIFORM + rest, "utf-8")

    words = ("--functions", "app.py", "--max-cases", "2000", "--budget", "100s")
    done = answer(run(*words, targets=PLANTED[:1]), tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    (bucket,) = lines_of(tmp_path / "out" / "buckets.jsonl")
    assert bucket["api"] == "app.py:broken"
    assert bucket["reproduced"]
    outcomes = run_of(tmp_path / "out")["targets"][0]["outcomes"]
    assert 20 <= outcomes["errored"] < 400
    assert outcomes["passed"] >= passed


def test_an_upgrade_that_also_breaks_a_function_fails_although_the_base_shows_it(
    tmp_path: Path,
) -> None:
    base, head = PLANTED
    limits = ("--functions", "src/*.py", "--max-cases", "200", "--budget", "60s")
    project(tmp_path, past=1)
    first = answer(run(*limits, targets=(base,)), tmp_path)
    source = tmp_path / "src" / "model.py"
    frontier = tmp_path / ".ciguard" / "baseline" / "frontier.json"
    pull_request = run(*limits, "--base", base, "--compare-only", targets=(head,))

    unchanged = answer(pull_request, tmp_path)
    source.write_text(PROGRAM.replace("{past}", "2"), "utf-8")
    broken = answer(pull_request, tmp_path)
    frontier.write_text(frontier.read_text("utf-8").replace('"functions"', '"unknown"'), "utf-8")
    without_record = answer(pull_request, tmp_path)

    assert first.returncode == 0, first.stdout + first.stderr
    assert unchanged.returncode == 0, unchanged.stdout + unchanged.stderr
    assert broken.returncode == 1, broken.stdout + broken.stderr
    assert "this change added the defect" in " ".join(broken.stdout.split())
    assert without_record.returncode == 0, without_record.stdout + without_record.stderr
    assert "this change may have added the defect" in " ".join(without_record.stdout.split())


def test_a_killed_campaign_is_resumed(tmp_path: Path) -> None:
    project(tmp_path, past=2)
    limits = ("--functions", "src/model.py", "--max-cases", "400000", "--budget", "30s")
    with started(run(*limits), tmp_path) as process:
        assert wait_until(lambda: batches_noted(tmp_path / "out") >= 4, timeout_s=80)
        process.send_signal(signal.SIGKILL)
    done = batches_noted(tmp_path / "out")

    ended = answer(run("--resume"), tmp_path)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert batches_noted(tmp_path / "out") > done
    assert any(b["api"] == "src/model.py:windows" for b in lines_of(tmp_path / "out/buckets.jsonl"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "--functions"),
        (("--functions", "missing.py"), "there is no file"),
        (("--functions", "plain.py"), "the file has no annotated functions"),
        (("--functions", "src/*.txt"), "matches no file"),
        (("--functions", "../other.py"), "no"),
    ],
)
def test_files_without_functions_are_an_error(
    words: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n", "utf-8")

    done = answer(run(*words), tmp_path)

    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "out").exists()


def test_wrong_annotations_are_reported_with_file_and_line(tmp_path: Path) -> None:
    text = 'from ciguard.annotations import arg, ints\n\n\n@arg("y", ints(1, 2))\ndef f(x): ...\n'
    (tmp_path / "wrong.py").write_text(text, "utf-8")

    done = answer(run("--functions", "wrong.py", "--budget", "20s"), tmp_path)

    assert done.returncode == 2
    assert "wrong.py:4: " in done.stderr
    assert "'y'" in done.stderr


def test_a_program_that_no_target_can_import_is_an_error(tmp_path: Path) -> None:
    text = "from ciguard.annotations import arg, ints\n1 / 0\narg('x', ints())(lambda x: x)\n"
    (tmp_path / "broken.py").write_text(text, "utf-8")

    done = answer(run("--functions", "broken.py", "--budget", "20s"), tmp_path)

    assert done.returncode == 2
    assert "broken.py:2: ZeroDivisionError" in done.stderr


NEVER = """\
from ciguard.annotations import arg, ints, require


@arg("x", ints(0, 9))
@require("known(x)")
def never(x):
    return x


def known(x):
    return x > 10
"""


def test_a_run_without_a_valid_call_has_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "never.py").write_text(NEVER, "utf-8")

    done = answer(run("--functions", "never.py", "--max-cases", "40", "--budget", "30s"), tmp_path)

    assert done.returncode == 3, done.stdout + done.stderr
    reason = r"never.py:never: none of (\d+) calls was valid; \1 of them: discarded by known\(x\)"
    assert re.search(f"NOT TESTED: {reason}", done.stdout + done.stderr)
    assert run_of(tmp_path / "out")["verdict"] == "NOT TESTED"
    assert re.search(reason, run_of(tmp_path / "out")["summary"])
    assert not (tmp_path / ".ciguard").exists()


def test_programs_find_a_home_and_others_are_tested_without_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    (home / "data" / "table.txt").write_text("0123456789", "utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    text = "from ciguard.annotations import arg, ints\n{}\n@arg('x', ints(0, 9))\ndef f(x): {}\n"
    opening = "import os\nTABLE = open(os.path.expanduser('~/data/table.txt')).read()\n"
    (folder / "reading.py").write_text(text.format(opening, "return TABLE[x]"), "utf-8")
    main = "from ciguard.annotations import module_test\nmodule_test()\n"
    (folder / "plain.py").write_text(text.format(main, "return x"), "utf-8")
    limits = ("--functions", "*.py", "--max-cases", "40", "--budget", "40s")

    without = answer(run(*limits, targets=PLANTED[:1]), folder)
    given = answer(run(*limits, "--function-home", str(home), targets=PLANTED[:1]), folder)

    assert without.returncode == given.returncode == 0, without.stderr + given.stderr
    assert "NOT TESTED: reading.py: " in without.stdout + without.stderr
    assert "NOT TESTED: 1 of 2 functions (reading.py)." in without.stdout
    assert "--function-home" in without.stdout + without.stderr
    assert "plain.py: its module_test() runs under pytest only" in without.stdout + without.stderr
    assert "NOT TESTED" not in given.stdout + given.stderr


def test_a_run_of_functions_describes_the_library_only_for_known_buckets(tmp_path: Path) -> None:
    folder = project(tmp_path, past=1)
    limits = ("--max-cases", "20", "--budget", "60s", "--fail-on", "critical")
    functions = run("--functions", "src/*.py", *limits, targets=PLANTED[:1])

    answer(functions, folder)
    before = run_of(folder / "out")
    api = ["--level", "api", "--api", "planted.fragile", "--target", PLANTED[0], "--out", "out"]
    answer(command("run", *api, *limits), folder)
    known = [bucket["fingerprint"] for bucket in lines_of(folder / "out" / "buckets.jsonl")]
    answer(functions, folder)
    after = run_of(folder / "out")

    assert [target["apis"] for target in before["targets"]] == [0]
    assert before["stages"]["describe"] > 0
    assert known
    assert [target["apis"] > 0 for target in after["targets"]] == [True]
    replayed = {
        bucket["fingerprint"]: bucket["comparison"]
        for bucket in lines_of(folder / "out" / "buckets.jsonl")
    }
    assert {replayed[name] for name in known} == {"known"}
