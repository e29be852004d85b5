"""Image analyses of Azure, combined from the engines of the parts."""

from __future__ import annotations

from typing import Any

import pytest

from ciguard.levels.app.input_synthesis.inputs import InputSpec, digest_of
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import answered_operations
from ciguard.levels.app.virtualization.composed import ImageAnalysisEngine
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.simulated import SimulationEngine

IMAGE = b"\x89PNG\r\n\x1a\n"
SIMULATED = SimulationEngine(
    None, {digest_of(IMAGE): InputSpec(RecognitionTask.LABELS, "Dog")}, confusion=0.0
)
COMPOSED = ImageAnalysisEngine(EngineChain((SIMULATED,)))
BY_NAME = {
    operation.name: operation
    for operation in answered_operations()
    if operation.provider == "azure"
}


def parts(answer: Any) -> Any:
    return [item["name"] for item in answer["tags"]], answer["objects"]


def test_composed_serves_image_analyses_whose_parts_have_engines() -> None:
    served = {name for name, operation in BY_NAME.items() if COMPOSED.serves(operation)}

    assert served == {
        "describe_image", "describe_image_in_stream", "analyze_image", "analyze_image_in_stream",
        "analyze", "analyze_from_url",
    }  # fmt: skip
    assert not any(
        ImageAnalysisEngine(EngineChain(())).serves(operation)
        for operation in answered_operations()
    )
    assert COMPOSED.is_simulated
    assert COMPOSED.name == SIMULATED.name


def test_image_analysis_has_the_answer_of_each_engine() -> None:
    answer = COMPOSED.answer(BY_NAME["analyze"], IMAGE)

    names, objects = parts(answer)
    tagged = SIMULATED.answer(BY_NAME["tag_image_in_stream"], IMAGE)
    assert names == [item["name"] for item in tagged["tags"]]
    assert "dog" in names
    assert objects == SIMULATED.answer(BY_NAME["detect_objects_in_stream"], IMAGE)["objects"]
    assert answer["caption_result"]["text"] == names[0]
    assert len(answer["objects_result"]["values"]) == len(objects)
    read = SIMULATED.answer(BY_NAME["get_read_result"], IMAGE)["analyze_result"]["read_results"][0]
    (block,) = answer["read_result"]["blocks"] or [{"lines": []}]
    assert [item["text"] for item in block["lines"]] == [item["text"] for item in read["lines"]]


def test_invalid_image_is_refused() -> None:
    with pytest.raises(ServiceError, match="Input data is not a valid image"):
        COMPOSED.answer(BY_NAME["analyze"], b"none")
