"""Random search for answers: literals, draws and mutation."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from ciguard.levels.app.exploration.hints import Hints, hints_of
from ciguard.levels.app.exploration.random_answers import RecognisedItem, response_recognising
from ciguard.levels.app.exploration.search import AnswerSearch
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.levels.app.exploration.search import Guess
    from ciguard.levels.app.providers.description import Operation

SOURCE = '''
"""Not compared with."""
import re
from google.cloud import vision

client = vision.ImageAnnotatorClient()
LIMIT = 0.75

def name_of(image):
    """Nor is this."""
    texts = client.text_detection(image=image).text_annotations
    text = texts[0].description if texts else ""
    if re.fullmatch(r"[A-Z]{2}-\\d+", text) or text == "Stop":
        return is_far(text)
    return None

def is_far(text):
    if int(text[3:]) > 120:
        return True
    return False

def other(text):
    return text == "elsewhere"
'''
HINTS = Hints(texts=("Stop", "wait"), numbers=(60.0,), patterns=("[A-Z]{2}-[0-9]+",))


def operation(name: str) -> Operation:
    return next(one for provider in known_providers() for one in provider.operations(name))


def drawn(name: str, count: int, hints: Hints = HINTS) -> list[tuple[RecognisedItem, ...]]:
    asked = operation(name)
    search = AnswerSearch([asked], hints, seed=1)
    return [search.guess()[asked] for _ in range(count)]


def test_hints_come_from_the_function_and_the_functions_of_its_conditions(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(dedent(SOURCE))
    application = read_application(tmp_path)
    (function,) = find_service_functions(application, known_providers())

    hints = hints_of(application, function)

    assert {"Stop"} <= set(hints.texts)
    assert {0.75, 120.0} <= set(hints.numbers)
    assert hints.patterns == (r"[A-Z]{2}-\d+",)
    assert not {"elsewhere", "Not compared with.", "Nor is this."} & set(hints.texts)


def test_search_with_the_same_seed_draws_the_same_answers() -> None:
    assert drawn("label_detection", 20) == drawn("label_detection", 20)


@pytest.mark.parametrize(
    "wanted",
    ["Stop", "wait 60", "Stop wait"],
)
def test_drawn_texts_combine_literals_of_the_application(wanted: str) -> None:
    lines = {result.key for results in drawn("text_detection", 5_000) for result in results}

    assert wanted in lines


def test_search_draws_matches_of_regular_expressions() -> None:
    lines = [result.key for results in drawn("text_detection", 200) for result in results]

    assert any(len(line) > 3 and line[:2].isupper() and line[3:].isdigit() for line in lines)


def test_search_draws_scores_near_numbers_and_counts_from_them() -> None:
    several = drawn("label_detection", 500)

    assert any(0.59 <= result.score < 0.6 for results in several for result in results)
    few = drawn("label_detection", 500, Hints(texts=(), numbers=(14.0,), patterns=()))
    assert {14, 15} <= set(map(len, few))


def test_search_mutates_guesses_with_new_outcomes() -> None:
    asked = operation("label_detection")
    search = AnswerSearch([asked], HINTS, seed=2)
    good: Guess = {asked: (RecognisedItem(key="Zebra", score=0.123),) * 3}
    search.observe(good, frozenset({"seen"}))

    guesses = [search.guess()[asked] for _ in range(100)]

    assert sum(any(result.key == "Zebra" for result in results) for results in guesses) > 30
    search.observe({asked: (RecognisedItem(key="Lion", score=0.5),)}, frozenset({"seen"}))
    assert not any(one.key == "Lion" for _ in range(100) for one in search.guess()[asked])


@pytest.mark.parametrize("name", ["face_detection", "safe_search_detection"])
def test_search_changes_one_likelihood_of_a_guess_with_new_outcomes(name: str) -> None:
    asked = operation(name)
    search = AnswerSearch([asked], HINTS, seed=2)
    judged = {"first": "LIKELY", "second": "POSSIBLE"}
    search.observe(
        {asked: (RecognisedItem(key="", score=0.5, likelihoods=judged),)}, frozenset({"seen"})
    )

    guesses = [search.guess()[asked] for _ in range(300)]

    kept = [item.likelihoods for items in guesses for item in items if "first" in item.likelihoods]
    assert {"first": "UNKNOWN", "second": "POSSIBLE"} in kept
    assert {"first": "LIKELY", "second": "VERY_LIKELY"} in kept


def test_scores_of_entities_in_the_web_have_no_maximum() -> None:
    several = drawn("web_detection", 300)

    assert any(item.score > 59 for items in several for item in items)


@pytest.mark.parametrize(
    "name",
    ["label_detection", "face_detection", "text_detection", "analyze_sentiment", "recognize"],
)
def test_stub_response_contains_the_drawn_results(name: str) -> None:
    asked = operation(name)
    results = [
        RecognisedItem(key=f"thing {at}", score=0.5, likelihoods={"joy": "LIKELY"})
        for at in range(5)
    ]

    answered = response_recognising(asked, results)

    assert answered.is_random
    assert answered.title.endswith("; and 2 more")
    assert response_recognising(asked, []).title == "nothing recognised"
