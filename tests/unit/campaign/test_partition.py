from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from part_examples import part, written

from ciguard.campaign.partition import forget_part
from ciguard.domain import PARTS_FILE
from ciguard.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path


def test_what_an_earlier_run_left_does_not_pass_for_the_next_ones_part(tmp_path: Path) -> None:
    folder = written(tmp_path / "out", part())

    forget_part(folder)
    forget_part(folder)
    forget_part(tmp_path / "missing")

    assert not (folder / PARTS_FILE).exists()


def test_a_part_that_cannot_be_removed_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / PARTS_FILE).mkdir()

    with pytest.raises(OutputError, match=r"parts\.jsonl: cannot be removed"):
        forget_part(tmp_path)
