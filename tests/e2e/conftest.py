from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ciguard_command import answer, buckets_of, campaign

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[object, ...]]:
    """Return the buckets of a planted campaign that nothing disturbed."""
    folder: Path = tmp_path_factory.mktemp("uninterrupted")
    done = answer(campaign("--out", "out"), folder)
    assert done.returncode == 0, done.stderr
    return buckets_of(folder / "out")
