"""Answers of Azure's Speech: transcripts, and results of its client."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.providers.azure.speech_messages import speech_answer
from ciguard.levels.app.providers.recognised import as_sentence
from ciguard.levels.app.providers.registered import empty_answer, known_providers, messages_of


@pytest.mark.parametrize(
    ("spoken", "shown"),
    [
        ("turn it on", "Turn it on."),
        ("Stop.", "Stop."),
        ("is it?", "Is it?"),
        ("42", "42."),
        ("über", "über."),
    ],
)
def test_transcript_is_displayed_as_a_sentence(spoken: str, shown: str) -> None:
    assert as_sentence(spoken) == shown


@given(st.text(min_size=1))
def test_transcript_that_is_a_sentence_stays_unchanged(text: str) -> None:
    assert as_sentence(as_sentence(text)) == as_sentence(text)


def test_parts_are_joined_with_their_minimum_confidence() -> None:
    answer = speech_answer([("Hello,", 0.9), (" ", 0.1), ("you there", 0.71239)])

    (best,) = answer["n_best"]
    assert answer["text"] == best["display"] == "Hello, you there."
    assert (best["lexical"], best["confidence"]) == ("hello you there", 0.7124)


def test_silence_has_no_text_and_equals_the_empty_answer() -> None:
    (azure,) = (provider for provider in known_providers() if provider.name == "azure")
    (operation,) = azure.operations("recognize_once")

    assert empty_answer(operation) == speech_answer([]) == {"text": "", "n_best": []}
    (refusal,) = messages_of(operation).refusals(operation)
    assert not refusal.depends_on_content
