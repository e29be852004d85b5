"""The scripts on the first page show what it says that they show."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.targets import Environment

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
SCRIPTS = re.findall(
    r"^`([^`]+==[^`]+)`: .*?\n\n```python\n(.*?)```", README, re.DOTALL | re.MULTILINE
)
DEATHS = {"linalg.eigvals": {signal.SIGSEGV, signal.SIGABRT}, "signal.irfft": {signal.SIGABRT}}
PRINTED = {
    "nn.Upsample": "tensor([[[1., 1.]]])",
    "pixel_unshuffle": "torch.Size([0, 1, 8, 8])",
    "ops.max": "torch.Size([])",
}


def test_every_script_of_the_readme_is_run() -> None:
    for api in (*DEATHS, *PRINTED):
        assert sum(f".{api}(" in script for _, script in SCRIPTS) == 1
    assert len(SCRIPTS) == len(DEATHS) + len(PRINTED)


def run(
    api: str, environment_of: Callable[[str], Environment], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run the script about an API as a person does, in the environment that the page names."""
    ((target, script),) = [found for found in SCRIPTS if f".{api}(" in found[1]]
    return subprocess.run(
        [str(environment_of(target).python), "-c", script],
        cwd=folder,
        env={"KERAS_BACKEND": "torch"} if target.startswith("keras") else {},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.library("torch")
@pytest.mark.library("tensorflow")
@pytest.mark.parametrize("api", DEATHS)
def test_a_crash_of_the_readme_ends_the_process(
    api: str, environment_of: Callable[[str], Environment], tmp_path: Path
) -> None:
    done = run(api, environment_of, tmp_path)

    assert -done.returncode in DEATHS[api], done.stderr


@pytest.mark.library("torch")
@pytest.mark.library("keras")
@pytest.mark.parametrize("api", PRINTED)
def test_a_wrong_result_of_the_readme_is_printed(
    api: str, environment_of: Callable[[str], Environment], tmp_path: Path
) -> None:
    done = run(api, environment_of, tmp_path)

    assert done.stdout.strip() == PRINTED[api], done.stderr
