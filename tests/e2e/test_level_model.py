"""Level `model` through the real command: a defect of one layer in one of two equal backends."""

from __future__ import annotations

import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ciguard_command import answer, batches_noted, command, lines_of, run_of, started, wait_until
from command_server import environment
from uv import find_uv_bin

from ciguard.targets import parse_target, provision

DEFECTS = Path(__file__).parents[2] / "benchmarks" / "model_defects"
LAYER = "keras.layers.BatchNormalization"
APIS = ("BatchNormalization", "Dense", "Activation", "Flatten", "Reshape")
MODELS = ("--level", "model", "--model", "lenet5-mnist", "--model", "lstm-sine")


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return Keras as it is, and with a defect: an epsilon that is ten times as large."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [find_uv_bin(), "build", "--quiet", "--wheel", "--out-dir", str(folder), str(DEFECTS)]
    subprocess.run(build, check=True)
    (wheel,) = folder.glob("*.whl")
    right = f"keras==3.15.1 + torch==2.13.0 + {shlex.quote(str(wheel))}"
    return right, f"{right} MODEL_DEFECTS=batch-epsilon"


def run(*words: str, on: tuple[str, ...]) -> list[str]:
    chosen = [word for target in on for word in ("--target", target)]
    apis = [word for api in APIS for word in ("--api", f"keras.layers.{api}")]
    return command("run", *chosen, *MODELS, *apis, "--out", "out", *words)


@pytest.mark.slow
@pytest.mark.library("keras")
def test_the_layer_that_deviates_is_found_and_its_script_shows_it(
    targets: tuple[str, str], tmp_path: Path
) -> None:
    done = answer(run("--budget", "75s", on=targets), tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    buckets = lines_of(tmp_path / "out" / "buckets.jsonl")
    assert {bucket["api"] for bucket in buckets} == {LAYER}, done.stdout
    found = next(b for b in buckets if b["kind"] == "values")
    assert found["confirmed"]
    assert found["level"] == "model"
    case: dict[str, Any] = found["case"][2]
    assert len(case["graph"]["nodes"]) == 2
    assert case["origin"]["model"] in {"battery", "lenet5-mnist", "lstm-sine"}
    script = tmp_path / "out" / found["reproducer"]
    assert ended_by(targets[1], script, tmp_path) == 1
    healthy = tmp_path / "healthy.py"
    healthy.write_text(script.read_text("utf-8").replace("MODEL_DEFECTS", "NOTHING"), "utf-8")
    assert ended_by(targets[0], healthy, tmp_path) == 0
    shown = answer(command("show", found["fingerprint"], "--out", "out"), tmp_path)
    assert "Found in:" in shown.stdout
    again = answer(command("reproduce", found["fingerprint"], "--out", "out"), tmp_path)
    assert again.returncode == 1, again.stdout + again.stderr


def ended_by(target: str, script: Path, folder: Path) -> int:
    """Run a reproducer as a person does, with the variables of a target."""
    parsed = parse_target(target)
    python = provision(parsed, on_step=lambda _: None).python
    done = subprocess.run(
        [str(python), str(script)],
        cwd=folder,
        env=environment(**dict(parsed.variables)),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.returncode


@pytest.mark.library("keras")
@pytest.mark.slow
def test_killed_campaign_is_resumed(targets: tuple[str, str], tmp_path: Path) -> None:
    same = (targets[0], targets[0])
    with started(run("--max-cases", "192", "--budget", "120s", on=same), tmp_path) as process:
        assert wait_until(lambda: batches_noted(tmp_path / "out") >= 4, timeout_s=100)
        process.send_signal(signal.SIGKILL)
    done = batches_noted(tmp_path / "out")

    ended = answer(run("--resume", on=same), tmp_path)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert batches_noted(tmp_path / "out") > done
    told = run_of(tmp_path / "out")
    assert told["buckets"]["new"] == 0
    assert all(target["apis_exercised"] >= 5 for target in told["targets"])
    assert lines_of(tmp_path / "out" / "buckets.jsonl") == []
