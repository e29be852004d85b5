"""The inputs that name builds of an earlier job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.actions import InputError, Steps, request_of

if TYPE_CHECKING:
    from pathlib import Path


def steps(folder: Path, **inputs: str) -> Steps:
    environment = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
    return Steps(request=request_of(environment, workspace=folder), environment=environment)


@pytest.mark.parametrize(
    ("built", "says"),
    [
        ((), "input 'wheel' = 'dist/*.whl': there is no such file in "),
        (("a-1-py3-none-any.whl", "b-1-py3-none-any.whl"), "2 files match"),
    ],
)
def test_glob_that_matches_no_or_several_files_is_rejected(
    built: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    (tmp_path / "dist").mkdir()
    for name in built:
        (tmp_path / "dist" / name).touch()

    with pytest.raises(InputError) as caught:
        steps(tmp_path, wheel="dist/*.whl").plan()

    assert says in str(caught.value)


def test_base_wheel_without_wheel_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="input 'wheel' is missing"):
        steps(tmp_path, base_wheel="dist/a.whl")
