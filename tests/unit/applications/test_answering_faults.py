"""Bad days of services, and engines that are made of others."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.applications import Operation, Task, known_providers
from ciguard.applications.answering.choosing import Chosen, NoEngineError, local_engines
from ciguard.applications.answering.engine import ServiceError
from ciguard.applications.answering.faults import Drawn, Fault, Faulty
from ciguard.applications.answering.simulated import Simulated
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from ciguard.domain import Json

GOOGLE = known_providers()[0]
OPERATIONS = {name: one for client in GOOGLE.clients for name, one in client.operations.items()}
LABELS = OPERATIONS["label_detection"]
PNG = b"\x89PNG\r\n\x1a\n"
ERRORS = {
    Fault.UNAVAILABLE: "UNAVAILABLE",
    Fault.INTERNAL: "INTERNAL",
    Fault.DEADLINE_EXCEEDED: "DEADLINE_EXCEEDED",
    Fault.PERMISSION_DENIED: "PERMISSION_DENIED",
    Fault.INVALID_ARGUMENT: "INVALID_ARGUMENT",
    Fault.QUOTA: "RESOURCE_EXHAUSTED",
}


@dataclass(frozen=True)
class Plain:
    """Answers the same, whatever it is asked."""

    content: Json
    name: str = "plain"
    is_simulated: bool = False
    tasks: tuple[Task, ...] = tuple(Task)
    asked: list[bytes] = field(default_factory=list)

    def serves(self, operation: Operation) -> bool:
        return operation.task in self.tasks

    def answer(self, operation: Operation, about: bytes) -> Json:
        del operation
        self.asked.append(about)
        return self.content


ANSWER = {"label_annotations": [{"description": "Fire", "score": 0.8}, {"description": "Gas"}]}


def outcome(engine: Faulty, about: bytes = PNG) -> str:
    try:
        return str(engine.answer(LABELS, about))
    except ServiceError as error:
        return str(error.code)


def test_every_kind_is_an_error_or_changes_what_comes() -> None:
    assert set(ERRORS) | {Fault.EMPTY, Fault.LOW_CONFIDENCE, Fault.MANY, Fault.LATENCY} == set(
        Fault
    )


@pytest.mark.parametrize(("fault", "code"), ERRORS.items())
def test_errors_have_the_services_codes(fault: Fault, code: str) -> None:
    engine = Plain(ANSWER)

    with pytest.raises(ServiceError) as caught:
        Faulty(engine, [fault]).answer(LABELS, PNG)

    assert caught.value.code == code
    assert caught.value.message
    assert str(caught.value).startswith(f"{code}: ")
    assert not engine.asked


def test_listed_faults_come_in_their_order_and_then_no_more() -> None:
    faulty = Faulty(Plain(ANSWER), [Fault.QUOTA, None, Fault.EMPTY])

    assert [outcome(faulty) for _ in range(5)] == [
        "RESOURCE_EXHAUSTED", str(ANSWER), "{}", str(ANSWER), str(ANSWER),
    ]  # fmt: skip


def test_faults_change_results_and_leave_the_engines_own_as_they_are() -> None:
    before = copy.deepcopy(ANSWER)
    faulty = Faulty(Plain(ANSWER), [Fault.EMPTY, Fault.LOW_CONFIDENCE, Fault.MANY])

    empty, unsure, many = (faulty.answer(LABELS, PNG) for _ in range(3))

    assert empty == {}
    assert [one.get("score") for one in unsure["label_annotations"]] == [pytest.approx(0.16), None]
    assert len(many["label_annotations"]) >= 50
    assert {one["description"] for one in many["label_annotations"]} == {"Fire", "Gas"}
    assert before == ANSWER


@pytest.mark.parametrize("name", ["analyze_sentiment", "recognize", "face_detection"])
def test_scores_are_made_smaller_wherever_they_are(name: str) -> None:
    operation = OPERATIONS[name]
    answers: dict[str, Json] = {
        "analyze_sentiment": {"document_sentiment": {"score": -1.0, "magnitude": 5}},
        "recognize": {"results": [{"alternatives": [{"confidence": 1.0}]}, {"alternatives": []}]},
        "face_detection": {"face_annotations": [{"detection_confidence": 1.0}]},
    }
    expected: dict[str, Json] = {
        "analyze_sentiment": {"document_sentiment": {"score": -0.2, "magnitude": 1.0}},
        "recognize": {"results": [{"alternatives": [{"confidence": 0.2}]}, {"alternatives": []}]},
        "face_detection": {"face_annotations": [{"detection_confidence": 0.2}]},
    }

    answer = Faulty(Plain(answers[name]), [Fault.LOW_CONFIDENCE]).answer(operation, b"")

    assert answer == expected[name]


@given(st.sampled_from([one for one in OPERATIONS.values() if one.task is not Task.OTHER]))
def test_faults_leave_no_answer_of_the_simulated_engine_unreadable(operation: Operation) -> None:
    about = b"\xff\xd8\xff" if operation.task in {Task.LABELS, Task.TEXT} else b"word " * 30

    for fault in (Fault.EMPTY, Fault.LOW_CONFIDENCE, Fault.MANY):
        try:
            answer = Faulty(Simulated(None, {}), [fault]).answer(operation, about)
        except ServiceError:
            continue
        assert isinstance(answer, dict)


def test_latency_waits_and_answers() -> None:
    waited: list[float] = []
    faulty = Faulty(Plain(ANSWER), [Fault.LATENCY], delay_s=2.5, pause=waited.append)

    assert faulty.answer(LABELS, PNG) == ANSWER
    assert waited == [2.5]


def test_empty_results_do_not_hide_what_the_service_refuses() -> None:
    faulty = Faulty(Simulated(None, {}), [Fault.EMPTY])

    with pytest.raises(ServiceError, match="Bad image data"):
        faulty.answer(LABELS, b"none")


@given(st.floats(0, 1), st.integers())
def test_drawn_faults_are_the_same_for_the_same_seed(rate: float, seed: int) -> None:
    def outcomes() -> list[str]:
        faulty = Faulty(Plain(ANSWER), Drawn(rate, seed), pause=lambda _: None)
        return [outcome(faulty, bytes([about % 7])) for about in range(20)]

    assert outcomes() == outcomes()


def test_drawn_faults_come_as_often_as_is_said_and_asking_again_may_help() -> None:
    faulty = Faulty(Plain(ANSWER), Drawn(0.3, 1, (Fault.UNAVAILABLE,)))

    first = [outcome(faulty, str(about).encode()) for about in range(1000)]
    again = [outcome(faulty, str(about).encode()) for about in range(1000)]

    assert abs(first.count("UNAVAILABLE") / 1000 - 0.3) < 0.05
    assert sum(a == b == "UNAVAILABLE" for a, b in zip(first, again, strict=True)) < 200


@pytest.mark.parametrize(("rate", "kinds"), [(-1, (Fault.EMPTY,)), (2, (Fault.EMPTY,)), (0.5, ())])
def test_a_rate_that_is_no_share_is_refused(rate: float, kinds: tuple[Fault, ...]) -> None:
    with pytest.raises(ConfigurationError, match="name a share and a kind"):
        Drawn(rate, 0, kinds)


def test_a_faulty_engine_is_what_its_engine_is() -> None:
    faulty = Faulty(Plain(ANSWER, tasks=(Task.LABELS,), is_simulated=True), [])

    assert faulty.is_simulated
    assert faulty.name == "plain, with faults"
    assert faulty.serves(LABELS)
    assert not faulty.serves(OPERATIONS["recognize"])


def test_the_first_engine_that_serves_answers_and_is_told() -> None:
    first = Plain(ANSWER, "first", tasks=(Task.LABELS,))
    second = Plain({}, "second", is_simulated=True, tasks=(Task.LABELS, Task.SPEECH))
    chosen = Chosen((first, second))

    assert chosen.engine_for(LABELS) is first
    assert chosen.engine_for(OPERATIONS["recognize"]) is second
    assert chosen.engine_for(OPERATIONS["classify_text"]) is None
    assert chosen.serves(LABELS)
    assert not chosen.serves(OPERATIONS["classify_text"])
    assert chosen.answer(LABELS, PNG) == ANSWER
    assert chosen.answer(OPERATIONS["recognize"], PNG) == {}
    assert chosen.name == "first, second"
    assert not chosen.is_simulated
    assert replace(chosen, engines=(second,)).is_simulated


def test_what_no_engine_serves_is_no_error_of_the_service() -> None:
    with pytest.raises(NoEngineError, match="google classify_text: no engine answers that"):
        Chosen(()).answer(OPERATIONS["classify_text"], b"")


def test_of_local_engines_those_that_recognise_come_first_and_the_simulated_one_last() -> None:
    chosen = local_engines(None, {}, confusion=0.5, seed=3)

    assert [engine.is_simulated for engine in chosen.engines] == [False] * 4 + [True]
    assert chosen.engines[-1] == Simulated(None, {}, 0.5, 3)
    for operation in OPERATIONS.values():
        assert chosen.serves(operation) == (operation.task is not Task.OTHER)
    labels = chosen.engine_for(LABELS)
    assert labels is not None
    assert labels.is_simulated
