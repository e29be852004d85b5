"""Which libraries' instructions are counted; tests/process counts with the real Valgrind."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, TWO, group, member

from ciguard.campaign.stages.instructions import CountInstructions
from ciguard.config import Config
from ciguard.domain.events import Warned
from ciguard.libraries import LIBRARIES

if TYPE_CHECKING:
    from ciguard.campaign.group import Member
    from ciguard.campaign.stages.measure import Measure
    from ciguard.campaign.state import CampaignState


def uncountable(name: str) -> Member:
    made = member(name, "planted.double")
    library = replace(made.environment.library, counts_instructions=False)
    return replace(made, environment=replace(made.environment, library=library))


@pytest.mark.parametrize(("setting", "is_warned"), [("on", True), ("off", False)])
def test_one_line_names_a_library_whose_instructions_cannot_be_counted(
    setting: str, *, is_warned: bool
) -> None:
    state = SimpleNamespace(
        config=Config(instructions=setting),
        groups={"planted": group(uncountable(ONE), uncountable(TWO))},
        budget=SimpleNamespace(suffices_to_count=True),
    )
    measure = cast("Measure", SimpleNamespace(has_candidates=True))
    stage = CountInstructions(cast("CampaignState", state), measure)

    events = list(stage.start_jobs(is_exploring=True))

    expected = (
        "planted: instructions are not counted, as its first operation takes minutes under "
        "Valgrind; times alone decide"
    )
    assert events == ([Warned(message=expected)] if is_warned else [])
    stage.close()


@pytest.mark.parametrize(
    ("library", "packages", "names"),
    [
        ("torch", {"torch": "2.13.0"}, []),
        ("jax", {"jax": "0.10.2"}, ["jax"]),
        ("keras", {"keras": "3.15.1", "torch": "2.13.0"}, []),
        ("keras", {"keras": "3.15.1", "tensorflow-cpu": "2.21.0"}, ["tensorflow"]),
    ],
)
def test_the_libraries_that_compute_decide_whether_instructions_are_counted(
    library: str, packages: dict[str, str], names: list[str]
) -> None:
    environment = replace(member().environment, library=LIBRARIES.get(library), packages=packages)

    assert environment.uncountable == names
