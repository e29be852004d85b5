"""Items of tuples and dictionaries are kept apart on their way to a condition."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application
from ciguard.levels.app.static_analysis.values import (
    EACH,
    LISTED,
    NOTHING,
    OtherSource,
    Value,
    ValueFlow,
)

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
    from google.cloud import language_v1, vision

    client = language_v1.LanguageServiceClient()
    eyes = vision.ImageAnnotatorClient()

    def sentiment(text):
        return client.analyze_sentiment(document=text).document_sentiment

    def labels(image):
        return eyes.label_detection(image=image).label_annotations
"""
SCORE, MAGNITUDE = (".document_sentiment", ".score"), (".document_sentiment", ".magnitude")
LABEL = (".label_annotations", "each", ".description")
SCORED = (".label_annotations", "each", ".score")
LISTED_NAME, LISTED_SCORE = (*LABEL, "in a list", "each"), (*SCORED, "in a list", "each")


def loop(variables: str, items: str, condition: str) -> str:
    return f"for {variables} in {items}:\n        if {condition}:\n            return 1"


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("a, b = pair(x)\n    return 1 if a > 0 else 2", {SCORE}),
        ("a, b = pair(x)\n    return 1 if b > 0 else 2", {MAGNITUDE}),
        ("return 1 if pair(x)[1] > 0 else 2", {MAGNITUDE}),
        ("return 1 if pair(x)[-1] > 0 else 2", {SCORE, MAGNITUDE}),
        ("p = pair(x)\n    return 1 if p[0] > 0 else 2", {SCORE}),
        ("return 1 if named(x)['m'] > 0 else 2", {MAGNITUDE}),
        ("return 1 if named(x).get('s', 0) > 0 else 2", {SCORE}),
        ("d = {}\n    d['k'], d['l'] = pair(x)\n    return 1 if d['l'] > 0 else 2", {MAGNITUDE}),
        ("for n, s in listed(x):\n        if n > 0:\n            return 1", {LABEL}),
        ("return 1 if any(n > 0 for n, s in listed(x)) else 2", set()),
        (loop("n, s", "zip(*split(x))", "n > 0"), None),
        (loop("n, s", "zip(names(x), scores(x))", "n > 0"), {LISTED_NAME}),
        (loop("n, s", "list(zip(names(x), scores(x)))", "s > 0"), {LISTED_SCORE}),
        (loop("i, s", "enumerate(scores(x))", "s > 0"), {LISTED_SCORE}),
        (loop("n", "dict(listed(x))", "n > 0"), {LABEL}),
        (loop("s", "dict(listed(x)).values()", "s > 0"), {LISTED_SCORE}),
        (loop("n, s", "dict(listed(x)).items()", "s > 0"), {SCORED}),
        (
            loop("s", "{one.description: one.score for one in labels(x)}.values()", "s > 0"),
            {LISTED_SCORE},
        ),
        ("i = 1\n    return 1 if pair(x)[i] > 0 else 2", None),  # any of the items
    ],
)
def test_item_is_known_by_its_index(
    tmp_path: Path, body: str, steps: set[tuple[str, ...]] | None
) -> None:
    text = f"""
def pair(x):
    felt = sentiment(x)
    return felt.score, felt.magnitude

def named(x):
    felt = sentiment(x)
    return {{"s": felt.score, "m": felt.magnitude}}

def listed(x):
    return [(one.description, one.score) for one in labels(x)]

def names(x):
    return [one.description for one in labels(x)]

def scores(x):
    return [one.score for one in labels(x)]

def split(x):
    return names(x), scores(x)

def subject(x):
    {body}
"""
    (tmp_path / "app.py").write_text(dedent(PROGRAM) + text)
    functions = find_service_functions(read_application(tmp_path), known_providers())
    (subject,) = [one for one in functions if one.name == "app.subject"]

    found = {
        flow.steps[:-1]
        for condition in subject.goals
        if condition.goal.is_condition and condition.goal.test is not None
        for flow in condition.flows
    }

    if steps is None:
        assert len(found) > 1
        assert not found & {SCORE, MAGNITUDE}
    else:
        assert found == steps


@given(st.lists(st.sampled_from(["a", "b", 0, 1]), min_size=1, max_size=4))
def test_taking_items_out_undoes_putting_them_in(indices: list[object]) -> None:
    value = Value(frozenset({ValueFlow(OtherSource(), (".score",))}))
    nested = value
    for index in indices:
        nested = nested.as_item(index)
    for index in reversed(indices):
        nested = nested.then(f"[{index!r}]")

    assert nested.flows == value.flows


@given(st.lists(st.booleans(), min_size=1, max_size=4))
def test_dictionary_gives_back_the_keys_and_values_put_into_it(are_keys: list[bool]) -> None:
    score = Value(frozenset({ValueFlow(OtherSource(), (".score",))}))
    nested = score
    for is_key in are_keys:
        pair = nested.as_item(0 if is_key else 1).then(LISTED)
        nested = pair.then("dict()").then(".items()").then(EACH).unpacked(0 if is_key else 1)
        other = pair.then("dict()").then(".values()" if is_key else EACH)

        assert other == NOTHING

    assert nested == score
