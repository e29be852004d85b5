"""Accuracy of applications on synthesised inputs, and the effect of suggested patches."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest
from vision_server import vision_server

from ciguard.errors import ConfigurationError
from ciguard.levels.app.accuracy import (
    AccuracyOptions,
    Assessment,
    ConditionVerdict,
    assess,
    settings_for,
)
from ciguard.levels.app.exploration import explore
from ciguard.levels.app.input_synthesis.inputs import InputSpec
from ciguard.levels.app.input_synthesis.inverse_chain import InputSources, inverse_of
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

SEEDS = Path(__file__).parents[2] / "seeds" / "apps"
HABITS = SEEDS / "service.toml"
FAULTS = tomllib.loads((SEEDS / "faults.toml").read_text("utf-8"))["fault"]
INACCURATE = [fault for fault in FAULTS if fault["shows"] == "accuracy"]
ALARM = """
from google.cloud import vision

client = vision.ImageAnnotatorClient()

def alarm(content: bytes) -> bool:
    labels = client.label_detection(image=vision.Image(content=content)).label_annotations
    return is_fire([one.description.lower() for one in labels])

def is_fire(names):
    if "fire" in names:
        return True
    return False
"""


def assessed(path: Path, **trying: Any) -> list[Assessment]:
    application = read_application(path)
    functions = find_service_functions(application, known_providers())
    explored = explore(application, functions, python=sys.executable, budget_s=30.0)
    settings = settings_for(AccuracyOptions(**{"budget_s": 30.0, **trying}))
    return list(assess(application, functions, explored, settings, python=sys.executable))


def failures(results: list[Assessment]) -> list[ConditionVerdict]:
    return [verdict for result in results for verdict in result.verdicts if verdict.is_failure]


@pytest.mark.parametrize("fault", INACCURATE, ids=[fault["application"] for fault in INACCURATE])
def test_branch_that_misses_its_inputs_is_reported_and_its_twin_is_not(fault: Any) -> None:
    name = f"{fault['application']}.py"

    reported = failures(assessed(SEEDS / name, confusion_matrix=HABITS))
    twins = assessed(SEEDS / "fixed" / name, confusion_matrix=HABITS)

    assert fault["line"] in {verdict.goal.line for verdict in reported}
    assert failures(twins) == []
    # That nothing fails says something only where something was tried.
    tried = [result.trials for result in twins if not result.problem]
    assert tried
    assert min(tried) > 30


def test_suggested_patch_reaches_the_claimed_measures(tmp_path: Path) -> None:
    program = tmp_path / "beach_flag.py"
    program.write_bytes((SEEDS / "beach_flag.py").read_bytes())

    (before,) = failures(assessed(tmp_path, confusion_matrix=HABITS))
    assert before.suggestion is not None
    assert before.measured is not None
    subprocess.run(
        ["git", "apply", "-"],  # noqa: S607 - the machine's
        cwd=tmp_path,
        input=before.suggestion.patch.encode(),
        check=True,
    )
    after = [
        verdict
        for result in assessed(tmp_path, confusion_matrix=HABITS)
        for verdict in result.verdicts
        if verdict.goal.branch.line == before.goal.branch.line and "Storm" in verdict.goal.texts
    ]

    assert before.measured.recall < 0.5
    assert after[0].measured is not None
    assert after[0].measured.recall > 0.75
    assert f"{after[0].measured.recall:.0%}".replace("%", " %") in before.suggestion.sentence


def test_recorded_answers_are_replayed(tmp_path: Path) -> None:
    record = tmp_path / "recording.jsonl"
    app = tmp_path / "app"
    app.mkdir()
    (app / "alarm.py").write_text(ALARM)
    habits = tmp_path / "habits.toml"
    habits.write_text("[labels]\nfire = { Fire = 0.3, Flame = 0.9 }\n")

    (first,) = failures(assessed(app, confusion_matrix=habits, record=record))
    (again,) = assessed(app, replay=record)
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(lines[:60]))
    (part,) = assessed(app, replay=record)

    assert not first.is_of_service
    (verdict,) = again.verdicts
    assert verdict.is_failure
    assert verdict.is_simulated  # as was recorded
    assert verdict.measured == first.measured
    # Missing records are reported, and do not count against the application.
    assert sum(part.unjudged_inputs.values()) == part.trials - 60
    assert all("label_detection" in reason for reason in part.unjudged_inputs)
    with pytest.raises(ConfigurationError, match=r"nothing\.jsonl"):
        assessed(app, replay=tmp_path / "nothing.jsonl")


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Serve Vision on the loopback; clients that know no better are led there."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "led"))
    with vision_server(tmp_path / "led", "Flame") as sizes:
        yield sizes


def test_real_service_is_called_and_recorded_on_request(tmp_path: Path, service: list[int]) -> None:
    app, images = tmp_path / "app", tmp_path / "images" / "fire"
    app.mkdir()
    (app / "alarm.py").write_text(ALARM)
    images.mkdir(parents=True)
    wanted = InputSpec(RecognitionTask.LABELS, "fire")
    for service_input in inverse_of(InputSources(is_simulated=True)).inputs(wanted, 9, seed=0):
        (images / f"{service_input.digest}.png").write_bytes(service_input.content)
    assessed(app)
    assert service == []  # not unless a user says so

    (real,) = assessed(app, images=images.parent, is_real=True, record=tmp_path / "recording.jsonl")
    (again,) = assessed(app, images=images.parent, replay=tmp_path / "recording.jsonl")

    assert len(service) == real.trials > 5
    for result in (real, again):
        (verdict,) = result.verdicts
        assert verdict.is_failure
        assert verdict.is_of_service
        assert not result.is_clean
        assert verdict.recognised == ("Flame",)
    assert len(service) == real.trials  # a recording calls no service


def test_computed_scores_are_not_judged_and_functions_without_input_are_not_assessed(
    tmp_path: Path,
) -> None:
    (tmp_path / "moods.py").write_text(
        dedent("""
        from google.cloud import language_v1, vision

        client = language_v1.LanguageServiceClient()

        def felt(text: str):
            document = {"content": text, "type_": "PLAIN_TEXT"}
            return client.analyze_sentiment(request={"document": document}).document_sentiment

        def percent(text: str) -> bool:
            share = felt(text).score * 100
            return share > -60

        def strong(text: str) -> bool:
            if abs(felt(text).score) > 0.2:
                return True
            return False

        def watch() -> bool:
            image = vision.Image(content=b"taken here")
            found = vision.ImageAnnotatorClient().label_detection(image=image)
            if "Dog" in [one.description for one in found.label_annotations]:
                return True
            return False
        """)
    )

    results = assessed(tmp_path)

    assert failures(results) == []
    assert not any(result.verdicts for result in results)
    assert {
        result.explored.function.name: result.problem for result in results if result.problem
    } == {"moods.watch": "no parameter of the function supplies the input of its service calls"}


def test_function_without_remaining_time_is_reported(tmp_path: Path) -> None:
    (tmp_path / "alarm.py").write_text(ALARM)

    (one,) = assessed(tmp_path, budget_s=0.0)

    assert (
        one.problem
        == "the time budget ended before an input was synthesised. Increase the time budget"
    )
    assert (one.trials, one.verdicts) == (0, [])


MOODS = """
from google.api_core import exceptions
from google.cloud import language_v1

client = language_v1.LanguageServiceClient()

def felt(text, **how):
    document = language_v1.Document(content=text, type_=language_v1.Document.Type.PLAIN_TEXT)
    return client.analyze_sentiment(document=document, **how)

def careless(text: str) -> bool:
    answer = felt(text, timeout=0.5, retry=None)
    answer.sentences[0]
    if answer.document_sentiment.score > 0.1:
        return True
    return False

def careful(text: str) -> bool:
    try:
        answer = felt(text, timeout=0.5, retry=None)
    except exceptions.GoogleAPICallError:
        return False
    if answer.document_sentiment.score > 0.2:
        return True
    return False

def persistent(text: str) -> bool:
    if felt(text).document_sentiment.score > 0.3:
        return True
    return False

def stubborn(text: str) -> bool:
    while True:
        try:
            if felt(text).document_sentiment.score > 0.4:
                return True
            return False
        except exceptions.GoogleAPIError as error:
            if not isinstance(error, (exceptions.ServiceUnavailable, exceptions.RetryError)):
                return False
"""


def with_faults(folder: Path, *faults: str) -> dict[str, Assessment]:
    """Return the result of each function with injected faults."""
    (folder / "app").mkdir()
    (folder / "app" / "moods.py").write_text(MOODS)
    (folder / "faults.toml").write_text("".join(f"[[fault]]\n{fault}\n" for fault in faults))
    results = assessed(folder / "app", inputs=20, faults=folder / "faults.toml")
    return {function.explored.function.name.partition(".")[2]: function for function in results}


def raised(one: Assessment) -> dict[str, tuple[int, bool]]:
    assert one.robustness is not None
    return {
        name: (through.calls, through.crash.is_judged)
        for (name, _, _), through in one.robustness.uncaught.items()
    }


def test_robustness_against_faults_is_reported_separately_from_accuracy(tmp_path: Path) -> None:
    results = with_faults(
        tmp_path,
        'probability = 0.3\nerror = "RESOURCE_EXHAUSTED"',
        "probability = 0.3\nseconds = 1",
        'probability = 0.3\nanswer = "nothing"',
    )

    careless, careful, persistent = (
        results[name] for name in ("careless", "careful", "persistent")
    )
    assert {name: own for name, (_, own) in raised(careless).items()} == {
        "ResourceExhausted": False,
        "DeadlineExceeded": False,
        "IndexError": True,
    }
    assert raised(careful) == {}
    assert set(raised(persistent)) == {"ResourceExhausted"}
    assert not careless.is_clean
    assert careful.is_clean
    assert persistent.is_clean
    for result in results.values():
        assert result.robustness is not None
        assert result.robustness.calls == result.trials > 15
        assert not result.robustness.hangs
        assert not any(verdict.is_failure for verdict in result.verdicts)
        assert not result.crashes


def test_transient_fault_is_handled_by_the_client(tmp_path: Path) -> None:
    results = with_faults(tmp_path, 'error = "UNAVAILABLE"\ntimes = 1')

    assert set(raised(results["careless"])) == {"ServiceUnavailable"}
    assert raised(results["persistent"]) == {}


def test_function_that_calls_services_without_end_is_reported_and_stopped(tmp_path: Path) -> None:
    results = with_faults(tmp_path, 'error = "UNAVAILABLE"')

    # Its client waits between ten minutes of tries, which are over at once, and gives up.
    assert set(raised(results["persistent"])) == {"RetryError"}
    robustness = results["stubborn"].robustness
    assert robustness is not None
    # Which limit it meets first, that of time or that of requests, depends on the machine.
    (hang,) = set(robustness.hangs)
    assert hang in {"calls services without end", "it sends more than 200 requests to services"}
    assert robustness.calls <= 2


def test_function_that_cannot_be_called_is_reported_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        """
from google.cloud import vision
import not_installed_here

def look(image):
    for one in vision.ImageAnnotatorClient().label_detection(image=image).label_annotations:
        if one.description == "Cat":
            return one
"""
    )

    (result,) = assessed(tmp_path)

    assert "not_installed_here" in result.problem
    assert result.is_clean


METER = """
    import re

    from google.cloud import vision

    client = vision.ImageAnnotatorClient()

    def reading(path: str) -> int:
        with open(path, "rb") as file:
            image = vision.Image(content=file.read())
        texts = client.text_detection(image=image).text_annotations
        text = texts[0].description if texts else ""
        digits = re.search(r"\\d+", text)
        if digits is None:
            return -1
        return 1000 // len(digits[0])
"""


def test_inputs_are_synthesised_for_outcomes_without_an_aim(tmp_path: Path) -> None:
    (tmp_path / "meter.py").write_text(dedent(METER))

    (result,) = assessed(tmp_path)

    assert result.outcome_counts == (4, 4)
    # Nobody says what a reading should be.
    assert result.verdicts == []


SEVERAL = """
from google.cloud import vision

client = vision.ImageAnnotatorClient()

def alarm(content: bytes) -> bool:
    features = [{"type_": "LABEL_DETECTION"}, {"type_": "SAFE_SEARCH_DETECTION"}]
    request = {"image": {"content": content}, "features": features}
    response = client.annotate_image(request)
    if response.safe_search_annotation.adult > 3:
        return False
    for one in response.label_annotations:
        if one.description == "Fire":
            return True
    return False
"""


def test_features_that_no_engine_answers_leave_the_others_of_a_request(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SEVERAL)

    (result,) = assessed(tmp_path, inputs=20)

    assert not result.problem
    assert not result.crashes
    (verdict,) = result.verdicts
    assert verdict.goal.text == "one.description == 'Fire'"
    assert not verdict.is_failure
    assert result.trials > 10


OF_TEXTS = """
from google.cloud import language_v1

client = language_v1.LanguageServiceClient()

def summary(text):
    document = {"content": text, "type_": "PLAIN_TEXT"}
    features = {"extract_entities": True, "extract_document_sentiment": True, "moderate_text": True}
    found = client.annotate_text(request={"document": document, "features": features})
    if found.document_sentiment.score < -0.2:
        return "complaint"
    for entity in found.entities:
        if entity.type_.name == "PERSON":
            return entity.name
    if found.moderation_categories[0].confidence > 0.7:
        return "bad"
"""


def test_parts_of_annotated_texts_are_judged_like_separate_analyses(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(OF_TEXTS)

    (result,) = assessed(tmp_path, inputs=20)

    assert not result.problem
    assert not result.crashes
    assert {verdict.goal.text for verdict in result.verdicts} == {
        "found.document_sentiment.score < -0.2",
        "entity.type_.name == 'PERSON'",
    }
    assert result.trials > 10
