"""Set-up of level `code` in a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.campaign import guided_lag
from ciguard.config import Config
from ciguard.levels.code.dialects import libraries_with_programs
from ciguard.levels.code.seeding import seed_programs, trees_for
from ciguard.levels.code.settings import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.events import Event


@pytest.mark.parametrize("lanes", [1, 2, 3, 4, 16, 64])
def test_the_number_of_trees_covers_the_lag_of_feedback(lanes: int) -> None:
    assert trees_for(lanes) >= max(8, guided_lag(lanes))


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
