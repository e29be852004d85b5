"""The answer of Azure's image analysis, put together of what engines say of the parts."""

from __future__ import annotations

from typing import Any

import pytest

from ciguard.levels.app.input_synthesis.inputs import InputSpec, digest_of
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import answered_operations
from ciguard.levels.app.virtualization.chosen import Chosen
from ciguard.levels.app.virtualization.composed import Composed
from ciguard.levels.app.virtualization.simulated import Simulated

IMAGE = b"\x89PNG\r\n\x1a\n"
SIMULATED = Simulated(
    None, {digest_of(IMAGE): InputSpec(RecognitionTask.LABELS, "Dog")}, confusion=0.0
)
COMPOSED = Composed(Chosen((SIMULATED,)))
BY_NAME = {one.name: one for one in answered_operations() if one.provider == "azure"}


def parts(answer: Any) -> Any:
    return [one["name"] for one in answer["tags"]], answer["objects"]


def test_it_serves_what_asks_for_all_of_an_image_and_nothing_without_an_engine() -> None:
    served = {name for name, one in BY_NAME.items() if COMPOSED.serves(one)}

    assert served == {
        "describe_image", "describe_image_in_stream", "analyze_image", "analyze_image_in_stream",
        "analyze", "analyze_from_url",
    }  # fmt: skip
    assert not any(Composed(Chosen(())).serves(one) for one in answered_operations())
    assert COMPOSED.is_simulated
    assert COMPOSED.name == SIMULATED.name


def test_every_part_says_what_its_engine_says() -> None:
    answer = COMPOSED.answer(BY_NAME["analyze"], IMAGE)

    names, objects = parts(answer)
    tagged = SIMULATED.answer(BY_NAME["tag_image_in_stream"], IMAGE)
    assert names == [one["name"] for one in tagged["tags"]]
    assert "dog" in names
    assert objects == SIMULATED.answer(BY_NAME["detect_objects_in_stream"], IMAGE)["objects"]
    assert answer["caption_result"]["text"] == names[0]
    assert len(answer["objects_result"]["values"]) == len(objects)
    read = SIMULATED.answer(BY_NAME["get_read_result"], IMAGE)["analyze_result"]["read_results"][0]
    (block,) = answer["read_result"]["blocks"] or [{"lines": []}]
    assert [one["text"] for one in block["lines"]] == [one["text"] for one in read["lines"]]


def test_an_image_that_is_none_is_refused() -> None:
    with pytest.raises(ServiceError, match="Input data is not a valid image"):
        COMPOSED.answer(BY_NAME["analyze"], b"none")
