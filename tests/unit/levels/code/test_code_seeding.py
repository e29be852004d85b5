"""Set-up of level `code` in a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.campaign.batches import WINDOW
from ciguard.config import Config
from ciguard.levels.code.dialects import libraries_with_programs
from ciguard.levels.code.seeding import MIN_TREES, seed_programs
from ciguard.levels.code.settings import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

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
