"""Level `graph` through the real command: defects that are planted into a compiler."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ciguard_command import answer, command, lines_of
from uv import find_uv_bin

from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFECTS = Path(__file__).parents[2] / "benchmarks" / "graph_defects"
APIS = ("sigmoid", "nn.functional.leaky_relu", "add", "nn.functional.silu", "relu", "sum")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return torch with the package that plants defects."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [find_uv_bin(), "build", "--quiet", "--wheel", "--out-dir", str(folder), str(DEFECTS)]
    subprocess.run(build, check=True)
    (wheel,) = folder.glob("*.whl")
    return f"torch==2.13.0 + {shlex.quote(str(wheel))}"


def run(targets: Sequence[str], folder: Path, *words: str) -> str:
    chosen = [word for target in targets for word in ("--target", target)]
    apis = [word for api in APIS for word in ("--api", f"torch.{api}")]
    settings = ("--level", "graph", "--seed", "2", "--jobs", "1", "--out", "out")
    done = answer(command("run", *chosen, *apis, *settings, *words), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.library("torch")
def test_defects_of_a_compiler_are_found_with_operator_and_stage(
    planted: str, tmp_path: Path
) -> None:
    variables = "GRAPH_DEFECTS=leaky-slope,sigmoid-sign"
    targets = (f"{planted} {variables}", f"{planted} compile {variables}")

    shown = run(targets, tmp_path, "--budget", "240s")

    buckets = lines_of(tmp_path / "out" / "buckets.jsonl")
    named = {bucket["api"]: bucket["case"][2].get("stage") for bucket in buckets}
    assert named.get("torch.nn.functional.leaky_relu") == "decompositions", shown
    assert named.get("torch.sigmoid") == "lowering", shown
    assert set(named) <= {f"torch.{api}" for api in APIS[:2]} | {"torch.nn.functional.silu"}
    scripts = [bucket["reproducer"] for bucket in buckets if bucket["reproducer"]]
    assert scripts, shown
    script = tmp_path / "out" / scripts[0]
    python = provision(parse_target(targets[0]), on_step=lambda _: None).python
    shown_by = [str(python), str(script)]
    assert answer(shown_by, tmp_path, GRAPH_DEFECTS="leaky-slope,sigmoid-sign").returncode == 1
    healthy = tmp_path / "healthy.py"
    healthy.write_text(script.read_text("utf-8").replace("GRAPH_DEFECTS", "NOTHING"), "utf-8")
    # inductor's cache does not know that decompositions have changed.
    cache = str(tmp_path / "cache")
    ran = answer(
        [str(python), str(healthy)], tmp_path, GRAPH_DEFECTS="", TORCHINDUCTOR_CACHE_DIR=cache
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.slow
@pytest.mark.library("torch")
def test_a_compiler_without_defects_is_silent(planted: str, tmp_path: Path) -> None:
    shown = run((planted, f"{planted} aot_eager"), tmp_path, "--budget", "60s")

    assert lines_of(tmp_path / "out" / "buckets.jsonl") == [], shown
