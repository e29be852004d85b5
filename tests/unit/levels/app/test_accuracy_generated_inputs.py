"""Selection of the inputs of a function."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from ciguard.levels.app.accuracy.aims import Aim
from ciguard.levels.app.accuracy.generated_inputs import synthesise_inputs
from ciguard.levels.app.input_synthesis.inputs import InputSpec
from ciguard.levels.app.input_synthesis.inverse_chain import InputSources, inverse_of
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
from google.cloud import vision

def stop(image):
    texts = vision.ImageAnnotatorClient().text_detection(image=image).text_annotations
    if texts[0].description == "Stop" or texts[0].description == "Halt":
        return True
"""
STOP, HALT, NOTHING = (
    InputSpec(RecognitionTask.TEXT, "Stop"),
    InputSpec(RecognitionTask.TEXT, "Halt"),
    InputSpec(RecognitionTask.TEXT),
)
OTHERS = [InputSpec(RecognitionTask.TEXT, f"{number} kg") for number in range(20)]


@pytest.fixture
def aims(tmp_path: Path) -> list[Aim]:
    (tmp_path / "app.py").write_text(TEXT)
    (function,) = find_service_functions(read_application(tmp_path), known_providers())
    (operation,) = {call.answer.operation for call in function.calls}
    goals = [condition.goal for condition in function.goals]
    return [
        Aim(goal, operation, (wanted,)) for goal, wanted in zip(goals, (STOP, HALT), strict=True)
    ]


def test_synthesis_gives_equal_counts_to_aims_and_one_input_to_each_further_specification(
    aims: list[Aim],
) -> None:
    generated = synthesise_inputs(aims, [STOP, *OTHERS], inverse_of(InputSources()), 24, seed=0)

    counts = Counter(service_input.wanted for service_input in generated.inputs)
    assert [counts[one] for one in (STOP, HALT, NOTHING)] == [8, 8, 8]
    assert [counts[one] for one in OTHERS] == [1] * 6 + [0] * 14  # a quarter of all
    assert generated.missing == ()


def test_synthesis_interleaves_the_specifications(aims: list[Aim]) -> None:
    generated = synthesise_inputs(aims, OTHERS[:2], inverse_of(InputSources()), 24, seed=0)

    assert {service_input.wanted for service_input in generated.inputs[:5]} == {
        STOP,
        HALT,
        NOTHING,
        *OTHERS[:2],
    }


def test_synthesis_reports_missing_inputs_of_aims_only(aims: list[Aim]) -> None:
    unknown = InputSpec(RecognitionTask.LABELS, "Zebra")
    aim = Aim(aims[0].goal, aims[0].operation, (unknown,))

    generated = synthesise_inputs(
        [aim], [InputSpec(RecognitionTask.TEXT, "\ue000")], inverse_of(InputSources()), 24, seed=0
    )

    assert generated.missing == (unknown,)
    assert {service_input.wanted for service_input in generated.inputs} == {NOTHING}
