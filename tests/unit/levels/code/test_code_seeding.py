"""Set-up of level `code` in a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.campaign.batches import WINDOW
from ciguard.config import Config
from ciguard.levels.code.dialects import libraries_with_programs
from ciguard.levels.code.seeding import (
    MIN_TREES,
    programs_of_other_libraries,
    seed_programs,
)
from ciguard.levels.code.settings import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from ciguard.domain.events import Event


def test_the_number_of_trees_covers_the_lag_of_feedback() -> None:
    assert MIN_TREES > WINDOW


def test_programs_of_one_name_are_distinguished_by_library() -> None:
    messages: list[str] = []

    def taken_apart(library: str) -> Iterator[Event]:
        programs = yield from seed_programs(Config().with_value(PROGRAMS, ("lenet",)), library)
        messages.extend(program.name for program in programs)

    warned = [
        event for library in sorted(libraries_with_programs()) for event in taken_apart(library)
    ]

    assert warned == []
    assert messages == ["jittor/lenet", "tensorflow/lenet", "torch/lenet"]


def test_a_file_that_imports_no_tested_library_is_left_out_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "with_keras.py").write_text("import keras\n")
    (tmp_path / "with_torch.py").write_text("from torch import nn\n")
    monkeypatch.chdir(tmp_path)
    config = Config().with_value(PROGRAMS, ("with_keras.py", "with_torch.py"))

    (warned,) = programs_of_other_libraries(config, ["torch", "jittor"])

    assert warned.message == (
        "seed program with_keras.py is left out: it does not import jittor or torch, which the "
        "targets test. Models of Keras are tested at level `model`."
    )
