"""What one seed gives at each level: the same cases, buckets and scripts, however it is built.

`UPDATE_SNAPSHOTS=1` writes the runs anew, where something is meant to change.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ciguard_command import PLANTED, answer, command, lines_of, run_of
from published_schemas import schema_violations
from uv import find_uv_bin

if TYPE_CHECKING:
    from collections.abc import Iterable

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "UPDATE_SNAPSHOTS"
DEFECTS = Path(__file__).parents[2] / "benchmarks" / "model_defects"
OF_BUCKETS = ("fingerprint", "api", "level", "oracle", "kind", "severity", "grouping", "case")
"""Keys of a bucket that a seed decides; not how often it was met, which time decides too."""
ANNOTATED = """\
import numpy as np
from ciguard.annotations import arg, ensure, ints, np_arrays, require


@arg("series", np_arrays("float64", ("n",), min=-10, max=10))
@arg("size", ints(1, 6))
@require("size <= len(series)")
def windows(series, size):
    starts = range(len(series) - size + 2)
    return np.stack([series[start : start + size] for start in starts])


@arg("x", ints(0, 50))
@ensure("result >= 0")
def halved(x):
    return x // 2 - (x == 49) * 30
"""
APPLICATION = """\
from google.cloud import vision


def main_thing(path):
    client = vision.ImageAnnotatorClient()
    with open(path, "rb") as stream:
        image = vision.Image(content=stream.read())
    labels = client.label_detection(image=image).label_annotations
    if labels[0].description == "Food":
        return "eat it"
    return "leave it"


def is_waste(path):
    client = vision.ImageAnnotatorClient()
    with open(path, "rb") as stream:
        image = vision.Image(content=stream.read())
    for label in client.label_detection(image=image).label_annotations:
        if label.description == "Food" or "Plastic":
            return True
    return False
"""
_ENVIRONMENT = re.compile(r"/\S*/ciguard-model-defects\S*\.whl|/tmp/\S+")


def golden(name: str, out: Path, *, without: Iterable[str] = ()) -> None:
    """Compare a run with the stored one, all of it at once, so that a change shows whole.

    Args:
        name: name of the stored run.
        out: folder of the run.
        without: keys of buckets that also depend on the machine.
    """
    run = _run(out)
    for bucket in run["buckets"]:
        for key in without:
            del bucket[key]
    shown = json.dumps(run, indent=1, sort_keys=True) + "\n"
    path = GOLDEN / f"{name}.json"
    assert schema_violations("run", run_of(out)) == []
    for file in ("buckets.jsonl", "findings.jsonl"):
        assert [
            fault for line in lines_of(out / file) for fault in schema_violations("bucket", line)
        ] == []
    if os.environ.get(UPDATE):
        path.write_text(shown, "utf-8")
    assert shown == path.read_text("utf-8"), f"meant to change? Write it with {UPDATE}=1"


def _run(out: Path) -> dict[str, Any]:
    buckets = sorted(lines_of(out / "buckets.jsonl"), key=lambda bucket: bucket["fingerprint"])
    targets = run_of(out)["targets"]
    return {
        "targets": [
            {key: target[key] for key in ("outcomes", "apis_exercised")} for target in targets
        ],
        "buckets": [
            {
                **{key: bucket[key] for key in OF_BUCKETS},
                "case": _digest(json.dumps(bucket["case"])),
                "script": _digest(_script(out, bucket)),
            }
            for bucket in buckets
        ],
    }


def _script(out: Path, bucket: dict[str, Any]) -> str:
    """Return the script of a bucket; a condition that is always true has none."""
    return (out / bucket["reproducer"]).read_text("utf-8") if bucket["reproducer"] else ""


def _digest(text: str) -> str:
    return hashlib.sha256(_ENVIRONMENT.sub("", text).encode()).hexdigest()[:16]


def ran(folder: Path, *words: str, targets: Iterable[str] = PLANTED) -> Path:
    """Run ciguard with one worker per target and the seed that the stored runs have."""
    chosen = [word for target in targets for word in ("--target", target)]
    limits = ("--seed", "11", "--jobs", "1", "--budget", "240s", "--out", "out")
    done = answer(command("run", *chosen, *limits, *words), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out"


def test_the_run_of_level_api_is_as_stored(tmp_path: Path) -> None:
    apis = ("double", "checked", "fragile", "cube", "divide", "tail")
    words = [word for api in apis for word in ("--api", f"planted.{api}")]

    golden("api", ran(tmp_path, *words, "--max-cases", "640"))


@pytest.mark.slow
@pytest.mark.library("keras")
def test_the_run_of_level_model_is_as_stored(tmp_path: Path) -> None:
    build = [find_uv_bin(), "build", "--quiet", "--wheel", "--out-dir", str(tmp_path), str(DEFECTS)]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    right = f"keras==3.15.1 + torch==2.13.0 + {shlex.quote(str(wheel))}"
    apis = ("BatchNormalization", "Dense", "Activation", "Flatten", "Reshape")
    words = [word for api in apis for word in ("--api", f"keras.layers.{api}")]
    models = ("--level", "model", "--model", "lenet5-mnist")
    targets = (right, f"{right} MODEL_DEFECTS=batch-epsilon")

    out = ran(tmp_path, *models, *words, "--max-cases", "160", targets=targets)

    # Which mutant deviates most, and so represents its bucket, depends on the kernels of the CPU.
    golden("model", out, without=("case",))


@pytest.mark.slow
@pytest.mark.library("torch")
def test_the_run_of_level_code_is_as_stored(tmp_path: Path) -> None:
    words = ("--level", "code", "--program", "lenet", "--max-cases", "200")

    golden("code", ran(tmp_path, *words, targets=["torch==2.13.0"]))


def test_the_run_of_level_function_is_as_stored(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(ANNOTATED, "utf-8")
    words = ("--level", "function", "--functions", "*.py", "--max-cases", "240")

    golden("function", ran(tmp_path, *words))


def test_the_run_of_level_app_is_as_stored(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "bins.py").write_text(APPLICATION, "utf-8")
    words = ("--level", "app", "--application", "app")

    golden("app", ran(tmp_path, *words, targets=["current[google-cloud-vision]"]))


def test_the_run_of_level_graph_is_as_stored(tmp_path: Path) -> None:
    apis = ("double", "cube", "divide", "tail")
    words = [word for api in apis for word in ("--api", f"planted.{api}")]

    golden("graph", ran(tmp_path, "--level", "graph", *words, "--max-cases", "400"))
