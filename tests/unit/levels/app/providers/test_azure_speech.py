"""What Azure displays of what is said, and what its client gives to an application."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.providers.azure.speech_messages import speech_answer
from ciguard.levels.app.providers.recognised import displayed
from ciguard.levels.app.providers.registered import empty_answer, known_providers, messages_of


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("turn it on", "Turn it on."),
        ("Stop.", "Stop."),
        ("is it?", "Is it?"),
        ("42", "42."),
        ("über", "über."),
    ],
)
def test_what_is_said_is_displayed_as_a_sentence(said: str, shown: str) -> None:
    assert displayed(said) == shown


@given(st.text(min_size=1))
def test_a_sentence_stays_as_it_is(text: str) -> None:
    assert displayed(displayed(text)) == displayed(text)


def test_parts_are_one_sentence_and_as_sure_as_the_least_sure() -> None:
    answer = speech_answer([("Hello,", 0.9), (" ", 0.1), ("you there", 0.71239)])

    (best,) = answer["n_best"]
    assert answer["text"] == best["display"] == "Hello, you there."
    assert (best["lexical"], best["confidence"]) == ("hello you there", 0.7124)


def test_silence_has_no_text_and_is_what_a_fault_answers() -> None:
    (azure,) = (one for one in known_providers() if one.name == "azure")
    (operation,) = azure.operations("recognize_once")

    assert empty_answer(operation) == speech_answer([]) == {"text": "", "n_best": []}
    (refusal,) = messages_of(operation).refusals(operation)
    assert not refusal.is_of_content
