"""Injected faults: affected contents, changed answers, and their file."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.errors import ConfigurationError
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.description import MediaKind, RecognitionTask, media_kind
from ciguard.levels.app.providers.registered import answered_operations, is_recognisable
from ciguard.levels.app.virtualization.choosing import local_engines
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.faults import Distortion, Fault, read_faults
from ciguard.levels.app.virtualization.faulty import FaultyEngine, with_faults
from ciguard.levels.app.virtualization.simulated import SimulationEngine

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.levels.app.providers.description import Operation

RECOGNISED = [operation for operation in answered_operations() if is_recognisable(operation)]
OPERATIONS = {
    operation.name: operation for operation in RECOGNISED if operation.provider == "google"
}
LABELS, SENTIMENT = OPERATIONS["label_detection"], OPERATIONS["analyze_sentiment"]
IMAGE = b"\x89PNG\r\n\x1a\n"


def faulty(*faults: Fault, seed: int = 0) -> FaultyEngine:
    return FaultyEngine(SimulationEngine(None, {}), faults, seed)


def image(number: int) -> bytes:
    return IMAGE + str(number).encode()


def affected_contents(engine: FaultyEngine, count: int = 400) -> list[bool]:
    """Return the numbers of the contents that get an error."""
    affected = []
    for number in range(count):
        try:
            engine.answer(LABELS, image(number))
        except ServiceError:
            affected.append(True)
        else:
            affected.append(False)
    return affected


def test_fault_affects_the_configured_share_reproducibly() -> None:
    fault = Fault(error=Code.UNAVAILABLE, probability=0.25)

    first, again, other = (affected_contents(faulty(fault, seed=seed)) for seed in (1, 1, 2))

    assert 60 < sum(first) < 140
    assert first == again
    assert first != other


def test_probability_one_affects_all_and_zero_none() -> None:
    assert all(affected_contents(faulty(Fault(error=Code.UNAVAILABLE)), 50))
    assert not any(affected_contents(faulty(Fault(error=Code.UNAVAILABLE, probability=0.0)), 50))


def test_two_faults_affect_different_contents() -> None:
    faults = [Fault(error=Code.INTERNAL, probability=0.5), Fault(error=Code.ABORTED)]
    engine = faulty(*faults)
    codes: Counter[str] = Counter()

    for number in range(200):
        with pytest.raises(ServiceError) as raised:
            engine.answer(LABELS, image(number))
        codes[raised.value.code] += 1

    assert set(codes) == {"INTERNAL", "ABORTED"}
    assert min(codes.values()) > 60


def test_fault_affects_only_its_operations() -> None:
    engine = faulty(Fault(error=Code.UNAVAILABLE, operations=frozenset({"label_detection"})))

    with pytest.raises(ServiceError):
        engine.answer(LABELS, IMAGE)
    assert engine.answer(SENTIMENT, b"Fine.")


def test_fault_with_times_affects_the_first_requests_of_each_content() -> None:
    engine = faulty(Fault(error=Code.UNAVAILABLE, times=2))
    outcomes: dict[bytes, list[str]] = {}

    for requested_content in (image(1), image(2)) * 3:
        try:
            engine.answer(LABELS, requested_content)
            outcome = "OK"
        except ServiceError as error:
            outcome = error.code
        outcomes.setdefault(requested_content, []).append(outcome)

    assert set(map(tuple, outcomes.values())) == {("UNAVAILABLE", "UNAVAILABLE", "OK")}


def test_error_has_its_configured_or_a_default_message() -> None:
    with pytest.raises(ServiceError, match="Quota exceeded"):
        faulty(Fault(error=Code.RESOURCE_EXHAUSTED)).answer(LABELS, IMAGE)
    with pytest.raises(ServiceError, match="Data loss"):
        faulty(Fault(error=Code.DATA_LOSS)).answer(LABELS, IMAGE)
    with pytest.raises(ServiceError, match="Come back"):
        faulty(Fault(error=Code.ABORTED, message="Come back.")).answer(LABELS, IMAGE)


def test_answer_is_delayed() -> None:
    began = time.monotonic()

    faulty(Fault(seconds=(0.1, 0.2))).answer(LABELS, IMAGE)

    assert 0.1 <= time.monotonic() - began < 2


@pytest.mark.parametrize("operation", RECOGNISED, ids=lambda operation: operation.title)
def test_changed_answers_keep_their_format(operation: Any) -> None:
    content = content_for(operation)
    plain = SimulationEngine(None, {}).answer(operation, content)

    nothing, unsure, many = (
        faulty(Fault(answer=distortion)).answer(operation, content) for distortion in Distortion
    )

    records = operation.records or "sentences"
    assert not results(nothing, records)
    if operation.results_path or not operation.records:  # else the answer is the list
        assert unsure.keys() == many.keys() == plain.keys()
    if once := results(plain, records):
        assert len(results(many, records)) == 100
        assert results(many, records)[: len(once)] == once
    if operation == OPERATIONS["analyze_sentiment"]:
        assert nothing["document_sentiment"] == {"score": 0.0, "magnitude": 0.0}
        assert 0 < abs(unsure["document_sentiment"]["score"]) < 0.2


def content_for(operation: Operation) -> bytes:
    if media_kind(operation.task) is MediaKind.TEXT:
        return b"The day was good. I affected_contents Ada in Rome. " * 5
    return IMAGE


def results(answer: Any, path: str) -> Any:
    for part in filter(None, path.split(".")):
        answer = answer[int(part)] if isinstance(answer, list) else answer.get(part, {})
    return answer


@pytest.mark.parametrize(
    "operation", [operation for operation in RECOGNISED if operation.provider in {"aws", "azure"}]
)
def test_empty_answers_of_aws_and_azure_have_all_lists(operation: Any) -> None:
    nothing = faulty(Fault(answer=Distortion.NOTHING)).answer(operation, content_for(operation))

    if operation.records not in {"", "ResultList"}:
        assert results(nothing, operation.records) == []
    if operation.task is RecognitionTask.SENTIMENT:
        assert str(nothing.get("Sentiment", nothing.get("sentiment"))).lower() == "neutral"


def test_unsure_sentiments_are_nearly_equal_and_keep_their_order() -> None:
    for operation in RECOGNISED:
        if operation.task is not RecognitionTask.SENTIMENT or operation.provider not in {
            "aws",
            "azure",
        }:
            continue
        field = "SentimentScore" if operation.provider == "aws" else "confidence_scores"
        engine = SimulationEngine(None, {})
        sure = engine.answer(operation, b"I love this.")[field]
        fault = FaultyEngine(engine, (Fault(answer=Distortion.UNSURE),))
        unsure = fault.answer(operation, b"I love this.")[field]

        assert sum(unsure.values()) == pytest.approx(1.0, abs=0.01)
        assert sorted(unsure, key=unsure.__getitem__) == sorted(sure, key=sure.__getitem__)
        assert max(unsure.values()) < 0.55


def test_scores_of_an_unsure_answer_are_low() -> None:
    sure = SimulationEngine(None, {}).answer(LABELS, IMAGE)["label_annotations"]
    unsure = faulty(Fault(answer=Distortion.UNSURE)).answer(LABELS, IMAGE)["label_annotations"]

    assert [result["description"] for result in unsure] == [
        result["description"] for result in sure
    ]
    assert all(result["score"] <= 0.2 for result in unsure)
    assert min(result["score"] for result in sure) >= 0.5


def test_engine_with_faults_keeps_its_name() -> None:
    plain = local_engines(None, {})

    engines = EngineChain(with_faults(plain.engines, [Fault(error=Code.INTERNAL)], 0))

    for operation in OPERATIONS.values():
        with_fault, without = engines.engine_for(operation), plain.engine_for(operation)
        assert with_fault is not None
        assert without is not None
        assert with_fault.name == without.name
        assert with_fault.is_simulated == without.is_simulated
    assert with_faults(plain.engines, [], 0) == plain.engines


WHOLE = """
[[fault]]
operations = ["label_detection", "recognize"]
probability = 0.5
error = "RESOURCE_EXHAUSTED"
message = "No more."
seconds = [0.5, 2]
times = 3

[[fault]]
answer = "many"
seconds = 1
"""


def test_file_sets_every_field_of_a_fault(tmp_path: Path) -> None:
    (tmp_path / "faults.toml").write_text(WHOLE)

    assert read_faults(tmp_path / "faults.toml") == (
        Fault(
            operations=frozenset({"label_detection", "recognize"}),
            probability=0.5,
            error=Code.RESOURCE_EXHAUSTED,
            message="No more.",
            seconds=(0.5, 2.0),
            times=3,
        ),
        Fault(answer=Distortion.MANY, seconds=(1.0, 1.0)),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"faults.toml has other keys than `fault`, or no fault. Write only tables \[\["),
        ("fault = 1", r"or no fault. Write only tables \[\[fault\]\]"),
        ("fault = [1]", r"fault 1 is not a table. Write \[\[fault\]\]"),
        ("[[fault]\n", "cannot be read as a list of faults to inject, in TOML: "),
        ("[[faults]]\nerror = 'INTERNAL'", "has other keys than `fault`"),
        (
            "[[fault]]\neror = 'INTERNAL'",
            "the key 'eror' is unknown. Did you mean 'error'",
        ),
        (
            "[[fault]]\nerror = 'TEAPOT'",
            "error has to be one of CANCELLED, .* not 'TEAPOT'",
        ),
        ("[[fault]]\nerror = ['INTERNAL']", "has to be one of CANCELLED"),
        ("[[fault]]\nanswer = 'few'", "answer has to be one of nothing, unsure, many"),
        (
            "[[fault]]\nprobability = 0.5",
            "fault 1 has no effect. Add the key `answer`",
        ),
        (
            "[[fault]]\nseconds = 1\n[[fault]]\nerror = 'INTERNAL'\nanswer = 'many'",
            "fault 2 has both `answer` and `error`. Write two faults instead",
        ),
        (
            "[[fault]]\nseconds = 1\nmessage = 'x'",
            "`message` has no effect without `error`. Add `error`",
        ),
        ("[[fault]]\nerror = 'INTERNAL'\nmessage = 1", "message has to be a text, not 1"),
        (
            "[[fault]]\nseconds = 1\nprobability = 2",
            "number from 0 to 1, not 2",
        ),
        ("[[fault]]\nseconds = 1\nprobability = true", "probability has to be a number"),
        (
            "[[fault]]\nseconds = -1",
            "seconds has to be a number from 0 to 3600, or a list of two",
        ),
        ("[[fault]]\nseconds = [2, 1]", r"seconds has to be .*, not \[2, 1\]"),
        ("[[fault]]\nseconds = nan", "seconds has to be .*, not nan"),
        (f"[[fault]]\nseconds = 1{'0' * 400}", "has to be a number from 0"),
        ("[[fault]]\nseconds = 1\ntimes = 1.5", "times has to be an integer"),
        ("[[fault]]\nseconds = 1\noperations = []", "operations has to be a list"),
        (
            "[[fault]]\nseconds = 1\noperations = ['labeldetection']",
            "operations: 'labeldetection' is not a known operation. Did you mean 'label_detection'",
        ),
        ("[[fault]]\nseconds = 1\noperations = [[]]", r"operations: \[\] is not a known operation"),
    ],
)
def test_invalid_file_is_refused_with_a_remedy(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "faults.toml").write_text(text)

    with pytest.raises(ConfigurationError, match=message):
        read_faults(tmp_path / "faults.toml")


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.toml cannot be read as a list of faults"):
        read_faults(tmp_path / "none.toml")


TOML_VALUES = st.sampled_from(
    ["1", "-1", "0.5", "inf", "true", "''", "'INTERNAL'", "'many'", "[]", "[0, 1]", "[1]", "{}",
     "['recognize']", "[[fault]]", "1979-05-27", '"\\u0000"']
)  # fmt: skip
KEYS = st.sampled_from(
    ["operations", "probability", "answer", "error", "message", "seconds", "times", "x", "''"]
)


@given(st.lists(st.dictionaries(KEYS, TOML_VALUES, max_size=4), max_size=3))
def test_any_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, tables: list[dict[str, str]]
) -> None:
    file = tmp_path_factory.mktemp("faults") / "faults.toml"
    lines = (f"{key} = {value}" for table in tables for key, value in [("", ""), *table.items()])
    file.write_text("\n".join("[[fault]]" if line == " = " else line for line in lines))

    assert result_of(file) in {str(file), f"{len(tables)} faults"}


def result_of(file: Path) -> str:
    """Return the number of faults in a file; after a refusal, the name with which it begins."""
    try:
        return f"{len(read_faults(file))} faults"
    except ConfigurationError as error:
        return str(file) if str(error).startswith(str(file)) else str(error)
