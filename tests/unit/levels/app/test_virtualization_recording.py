"""Recordings: recorded answers are replayed, and damaged files are reported."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ciguard.errors import CiguardError, ConfigurationError
from ciguard.levels.app.input_synthesis.inputs import digest_of
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.virtualization.recording import (
    NotRecordedError,
    RecordingEngine,
    ReplayEngine,
)
from ciguard.levels.app.virtualization.simulated import SimulationEngine

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation

GOOGLE = known_providers()[0]
OPERATIONS = {
    name: operation for client in GOOGLE.clients for name, operation in client.operations.items()
}
LABELS, SENTIMENT = OPERATIONS["label_detection"], OPERATIONS["analyze_sentiment"]
PNG = b"\x89PNG\r\n\x1a\n"
SHARED = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50
)


@dataclass(frozen=True)
class Service:
    """Answers what is set, or refuses."""

    outcomes: list[Json | ServiceError] = field(default_factory=list)
    name: str = "the service"
    is_simulated: bool = False

    def serves(self, operation: Operation) -> bool:
        return operation == LABELS

    def answer(self, operation: Operation, content: bytes) -> Json:
        del operation, content
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome


def recorded(file: Path, *outcomes: Json | ServiceError) -> None:
    """Record outcomes for contents 0, 1, …"""
    recording = RecordingEngine(Service(list(outcomes)), file)
    for content, outcome in enumerate(outcomes):
        if isinstance(outcome, ServiceError):
            with pytest.raises(ServiceError):
                recording.answer(LABELS, bytes([content]))
        else:
            assert recording.answer(LABELS, bytes([content])) == outcome


def test_recorded_answers_and_errors_are_replayed(tmp_path: Path) -> None:
    file = tmp_path / "new" / "recording.jsonl"
    recorded(file, {"label_annotations": []}, ServiceError("UNAVAILABLE", "Try later."))

    replayed = ReplayEngine(file)

    assert replayed.answer(LABELS, b"\0") == {"label_annotations": []}
    with pytest.raises(ServiceError) as caught:
        replayed.answer(LABELS, b"\1")
    assert (caught.value.code, caught.value.message) == ("UNAVAILABLE", "Try later.")
    assert replayed.name == "recording of the service"
    assert not replayed.is_simulated
    assert replayed.serves(LABELS)
    assert not replayed.serves(SENTIMENT)


def test_request_without_recording_is_not_a_service_error(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    recorded(file, {})

    with pytest.raises(NotRecordedError, match=r"google label_detection") as caught:
        ReplayEngine(file).answer(LABELS, b"other")

    assert isinstance(caught.value, CiguardError)
    assert digest_of(b"other") in str(caught.value)
    assert "Record the answers of the service again" in str(caught.value)
    assert (caught.value.operation, caught.value.digest) == (LABELS, digest_of(b"other"))


def test_changing_an_answer_does_not_change_the_recording(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    recorded(file, {"label_annotations": [{}]})
    replayed = ReplayEngine(file)

    replayed.answer(LABELS, b"\0")["label_annotations"].clear()

    assert replayed.answer(LABELS, b"\0") == {"label_annotations": [{}]}


def test_recording_of_simulated_answers_is_simulated(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    engine = RecordingEngine(SimulationEngine(None, {}), file)
    answer = engine.answer(LABELS, PNG)

    assert engine.is_simulated
    assert engine.serves(SENTIMENT)
    assert ReplayEngine(file).is_simulated
    assert ReplayEngine(file).answer(LABELS, PNG) == answer
    assert "generator of labels" in ReplayEngine(file).name


def test_recording_has_no_contents_and_no_secrets(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    message = (
        "API key AIzaSyA-0123456789abcdefghijklmnopqrstuv of me@some-project.iam.gserviceaccount"
        ".com, projects/my-secret-project, Consumer 'project_number:1234' has used it in project "
        "my-other-project before. " + "x" * 9000
    )
    recording = RecordingEngine(Service([{}, ServiceError("PERMISSION_DENIED", message)]), file)
    recording.answer(LABELS, b"private content")
    with pytest.raises(ServiceError):
        recording.answer(LABELS, b"other")

    text = file.read_text()

    assert len(text) < 1500
    for secret in ("private", "AIza", "gserviceaccount", "my-secret", "1234'", "my-other"):
        assert secret not in text
    assert "has used it" in text


def test_last_answer_counts_and_equal_answers_are_written_once(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    outcomes: list[Json] = [{}, {}, {"label_annotations": []}, {"label_annotations": []}]
    for outcome in outcomes:
        recorded(file, outcome)

    assert len(file.read_text().splitlines()) == 2
    assert ReplayEngine(file).answer(LABELS, b"\0") == {"label_annotations": []}


def test_invalid_code_of_an_engine_is_recorded_as_unknown(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    recorded(file, ServiceError("STRANGE", "What?"))

    with pytest.raises(ServiceError, match="UNKNOWN: What"):
        ReplayEngine(file).answer(LABELS, b"\0")


@pytest.mark.lengthy
def test_recording_cut_at_any_byte_is_repaired(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    recorded(file, {"a": 1}, {"b": "é\u2028"})
    whole = file.read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]

    for cut in range(len(whole)):
        file.write_bytes(whole[:cut])
        kept = sum(end <= cut for end in ends)  # a line that lacks its end only is whole

        assert [number for number in range(2) if is_recorded(file, number)] == list(range(kept))
        RecordingEngine(Service([{"new": True}]), file).answer(LABELS, b"new")
        assert [number for number in range(2) if is_recorded(file, number)] == list(range(kept))
        assert ReplayEngine(file).answer(LABELS, b"new") == {"new": True}
        assert len(file.read_bytes().splitlines()) == kept + 1


def is_recorded(file: Path, number: int) -> bool:
    try:
        ReplayEngine(file).answer(LABELS, bytes([number]))
    except NotRecordedError:
        return False
    return True


def test_long_incomplete_line_is_repaired(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    recorded(file, {"a": "x"}, {"b": "y" * 20_000})
    file.write_bytes(file.read_bytes()[:-10])

    RecordingEngine(Service([{}]), file).answer(LABELS, b"new")

    assert is_recorded(file, 0)
    assert not is_recorded(file, 1)
    assert ReplayEngine(file).answer(LABELS, b"new") == {}


def _record_many(file: Path, start: int) -> None:
    recording = RecordingEngine(Service([{"n": "x" * 5000}] * 30), file)
    for number in range(30):
        recording.answer(LABELS, str(start + number).encode())


def test_two_processes_may_record_into_one_file(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_record_many, args=(file, n * 100)) for n in range(2)]

    for child in children:
        child.start()
    for child in children:
        child.join(60)

    assert [child.exitcode for child in children] == [0, 0]
    assert len(file.read_text().splitlines()) == 60
    assert ReplayEngine(file).answer(LABELS, b"129") == {"n": "x" * 5000}


def line(**changes: Json) -> str:
    record: dict[str, Json] = {
        "schema": 1, "provider": "google", "operation": "label_detection",
        "content": digest_of(b""), "engine": "e", "simulated": False, "answer": {},
    }  # fmt: skip
    record.update(changes)
    return json.dumps({key: value for key, value in record.items() if value is not ...})


@pytest.mark.parametrize(
    ("damaged", "why"),
    [
        ("", "this line is not valid JSON"),
        ("nonsense", "this line is not valid JSON"),
        ("[" * 100_000, "this line is not valid JSON"),
        ("5", "this line does not record an answer"),
        (line(schema=2), "a newer ciguard wrote this line (schema 2)"),
        (line(schema="1"), "this line does not record an answer"),
        (line(content="../etc/passwd"), "this line does not record an answer"),
        (line(engine=...), "this line does not record an answer"),
        (line(answer=[{}, 1]), "neither a valid `answer` nor"),
        (line(answer=...), "neither a valid `answer` nor"),
        (line(more=1), "neither a valid `answer` nor"),
        (line(answer=..., error={"code": "NO_CODE", "message": ""}), "NO_CODE"),
        (
            line(answer=..., error={"code": "INTERNAL"}),
            "neither a valid `answer` nor",
        ),
        (line(answer={"score": float("nan")}), "this line is not valid JSON"),
        (line(answer={"half": "\ud800"}), "this line is not valid JSON"),
    ],
)
def test_invalid_line_reports_file_and_remedy(damaged: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    file.write_text(f"{line()}\n{damaged}\n{line()}\n")

    for use in (lambda: ReplayEngine(file), lambda: RecordingEngine(Service(), file)):
        with pytest.raises(ConfigurationError) as caught:
            use()

        assert str(caught.value).startswith(f"{file}: line 2: ")
        assert why in str(caught.value)
        assert "Delete the line, or record the answer again." in str(caught.value)


@SHARED
@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "recording.jsonl"
    for before in (b"", line().encode() + b"\n"):
        file.write_bytes(before + content)
        try:
            ReplayEngine(file)
        except ConfigurationError as error:
            assert f"{file}: line " in str(error)  # noqa: PT017


@SHARED
@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False,
            allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=8,
        ),
    ),
    st.binary(),
)  # fmt: skip
@pytest.mark.lengthy
def test_answer_round_trips_through_a_recording(
    tmp_path: Path, answer: Json, content: bytes
) -> None:
    file = tmp_path / "recording.jsonl"
    RecordingEngine(Service([answer]), file).answer(LABELS, content)

    assert ReplayEngine(file).answer(LABELS, content) == answer


@pytest.mark.parametrize(
    "results", ["x", {"Name": "Dog"}, ["Dog"], [{"Name": "Dog", "Confidence": "99"}], [None]]
)
def test_invalid_results_in_a_recording_report_the_file(tmp_path: Path, results: Json) -> None:
    file = tmp_path / "recording.jsonl"
    (labels,) = known_providers()[1].operations("detect_labels")
    RecordingEngine(Service([{"Labels": results}]), file).answer(labels, PNG)

    with pytest.raises(
        ConfigurationError, match=r"recording\.jsonl: the recorded answer of aws detect_la"
    ):
        ReplayEngine(file).answer(labels, PNG)


@pytest.mark.parametrize(
    ("place", "name", "answer"),
    [(0, "label_detection", [{}]), (1, "detect_labels", []), (2, "detect_with_stream", {})],
)
def test_answer_may_be_a_list_only_if_the_service_returns_one(
    tmp_path: Path, place: int, name: str, answer: Json
) -> None:
    file = tmp_path / "recording.jsonl"
    (operation,) = known_providers()[place].operations(name)
    RecordingEngine(Service([answer]), file).answer(operation, PNG)

    with pytest.raises(
        ConfigurationError, match=r"recording\.jsonl: the recorded answer of .* has invalid"
    ):
        ReplayEngine(file).answer(operation, PNG)


def test_missing_or_read_only_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"none\.jsonl cannot be read: .* Create a recording"
    ):
        ReplayEngine(tmp_path / "none.jsonl")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ReplayEngine(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="cannot be written"):
        RecordingEngine(Service([{}]), tmp_path / "file" / "recording.jsonl").answer(LABELS, b"")


def test_empty_file_has_no_records(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    file.touch()

    assert ReplayEngine(file).name == "recording of nothing"
    assert not ReplayEngine(file).serves(LABELS)
