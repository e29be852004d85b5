"""Applications on inputs that people would recognise: what fails, and what a patch makes of it."""

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
from ciguard.levels.app.accuracy import Assessed, ConditionVerdict, Trying, assess, settings_for
from ciguard.levels.app.exploration import explore
from ciguard.levels.app.input_synthesis.choosing import InputSources, inverse_of
from ciguard.levels.app.input_synthesis.inputs import InputSpec
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find, read_application

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

SEEDS = Path(__file__).parents[2] / "seeds" / "apps"
HABITS = SEEDS / "service.toml"
FAULTS = tomllib.loads((SEEDS / "faults.toml").read_text("utf-8"))["fault"]
INACCURATE = [one for one in FAULTS if one["shows"] == "accuracy"]
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


def assessed(path: Path, **trying: Any) -> list[Assessed]:
    application = read_application(path)
    found = find(application, known_providers())
    explored = explore(application, found, python=sys.executable, budget_s=30.0)
    settings = settings_for(Trying(**{"budget_s": 30.0, **trying}))
    return list(assess(application, found, explored, settings, python=sys.executable))


def failures(results: list[Assessed]) -> list[ConditionVerdict]:
    return [verdict for one in results for verdict in one.verdicts if verdict.is_failure]


@pytest.mark.parametrize("fault", INACCURATE, ids=[one["application"] for one in INACCURATE])
def test_a_branch_that_misses_its_inputs_is_told_and_its_twin_is_not(fault: Any) -> None:
    name = f"{fault['application']}.py"

    told = failures(assessed(SEEDS / name, habits=HABITS))
    twins = assessed(SEEDS / "fixed" / name, habits=HABITS)

    assert fault["line"] in {verdict.goal.line for verdict in told}
    assert failures(twins) == []
    # That nothing fails says something only where something was tried.
    tried = [one.trials for one in twins if not one.problem]
    assert tried
    assert min(tried) > 30


def test_a_suggested_patch_makes_the_branch_as_good_as_it_says(tmp_path: Path) -> None:
    program = tmp_path / "beach_flag.py"
    program.write_bytes((SEEDS / "beach_flag.py").read_bytes())

    (before,) = failures(assessed(tmp_path, habits=HABITS))
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
        for one in assessed(tmp_path, habits=HABITS)
        for verdict in one.verdicts
        if verdict.goal.branch.line == before.goal.branch.line and "Storm" in verdict.goal.texts
    ]

    assert before.measured.recall < 0.5
    assert after[0].measured is not None
    assert after[0].measured.recall > 0.75
    assert f"{after[0].measured.recall:.0%}".replace("%", " %") in before.suggestion.sentence


def test_what_was_recorded_is_answered_again(tmp_path: Path) -> None:
    record = tmp_path / "recording.jsonl"
    app = tmp_path / "app"
    app.mkdir()
    (app / "alarm.py").write_text(ALARM)
    habits = tmp_path / "habits.toml"
    habits.write_text("[labels]\nfire = { Fire = 0.3, Flame = 0.9 }\n")

    (first,) = failures(assessed(app, habits=habits, record=record))
    (again,) = assessed(app, replay=record)
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(lines[:60]))
    (part,) = assessed(app, replay=record)

    assert not first.is_of_service
    (verdict,) = again.verdicts
    assert verdict.is_failure
    assert verdict.is_simulated  # as was recorded
    assert verdict.measured == first.measured
    # What was not recorded is said, and not held against the application.
    assert sum(part.left_out.values()) == part.trials - 60
    assert all("label_detection" in reason for reason in part.left_out)
    with pytest.raises(ConfigurationError, match=r"nothing\.jsonl"):
        assessed(app, replay=tmp_path / "nothing.jsonl")


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Serve Vision on the loopback; clients that know no better are led there."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "led"))
    with vision_server(tmp_path / "led", "Flame") as sizes:
        yield sizes


def test_the_service_itself_is_asked_and_recorded_where_a_user_says_so(
    tmp_path: Path, service: list[int]
) -> None:
    app, images = tmp_path / "app", tmp_path / "images" / "fire"
    app.mkdir()
    (app / "alarm.py").write_text(ALARM)
    images.mkdir(parents=True)
    wanted = InputSpec(RecognitionTask.LABELS, "fire")
    for one in inverse_of(InputSources(is_simulated=True)).inputs(wanted, 9, seed=0):
        (images / f"{one.digest}.png").write_bytes(one.content)
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
    assert len(service) == real.trials  # a recording asks nobody


def test_what_is_made_of_a_score_is_not_judged_and_what_gets_no_input_is_not_tried(
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
    assert not any(one.verdicts for one in results)
    assert {one.explored.found.name: one.problem for one in results if one.problem} == {
        "moods.watch": "what services are asked about is none of its parameters"
    }


def test_a_function_for_which_no_time_is_left_is_named(tmp_path: Path) -> None:
    (tmp_path / "alarm.py").write_text(ALARM)

    (one,) = assessed(tmp_path, budget_s=0.0)

    assert one.problem == "making its inputs took all of its time: give it more"
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


def with_faults(folder: Path, *faults: str) -> dict[str, Assessed]:
    """Return what comes of each function with faults."""
    (folder / "app").mkdir()
    (folder / "app" / "moods.py").write_text(MOODS)
    (folder / "faults.toml").write_text("".join(f"[[fault]]\n{fault}\n" for fault in faults))
    found = assessed(folder / "app", inputs=20, faults=folder / "faults.toml")
    return {one.explored.found.name.partition(".")[2]: one for one in found}


def raised(one: Assessed) -> dict[str, tuple[int, bool]]:
    assert one.robustness is not None
    return {
        name: (through.calls, through.crash.is_judged)
        for (name, _, _), through in one.robustness.raised.items()
    }


def test_what_a_function_makes_of_faults_is_told_apart_from_its_accuracy(tmp_path: Path) -> None:
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
    for one in results.values():
        assert one.robustness is not None
        assert one.robustness.calls == one.trials > 15
        assert not one.robustness.endless
        assert not any(verdict.is_failure for verdict in one.verdicts)
        assert not one.crashes


def test_a_fault_that_passes_is_one_that_clients_deal_with(tmp_path: Path) -> None:
    results = with_faults(tmp_path, 'error = "UNAVAILABLE"\ntimes = 1')

    assert set(raised(results["careless"])) == {"ServiceUnavailable"}
    assert raised(results["persistent"]) == {}


def test_who_goes_on_asking_is_told_and_not_waited_for(tmp_path: Path) -> None:
    results = with_faults(tmp_path, 'error = "UNAVAILABLE"')

    # Its client waits between ten minutes of tries, which are over at once, and gives up.
    assert set(raised(results["persistent"])) == {"RetryError"}
    robustness = results["stubborn"].robustness
    assert robustness is not None
    assert set(robustness.endless) == {"goes on asking"}
    assert robustness.calls <= 2


def test_a_function_that_cannot_be_called_is_named_with_the_reason(tmp_path: Path) -> None:
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


def test_inputs_are_made_for_what_no_condition_names(tmp_path: Path) -> None:
    (tmp_path / "meter.py").write_text(dedent(METER))

    (result,) = assessed(tmp_path)

    assert result.outcomes == (4, 4)
    # Nobody says what a reading should be.
    assert result.verdicts == []
