"""Languages and key phrases of texts, detected by stop words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.registered import answered_operations, known_providers
from ciguard.levels.app.virtualization.stop_words import StopWordEngine

WORDS = StopWordEngine()
SERVED = {
    operation.title: operation for operation in answered_operations() if WORDS.serves(operation)
}
PHRASES = SERVED["aws detect_key_phrases"]


def test_stop_words_serve_only_phrases_and_languages() -> None:
    assert set(SERVED) == {
        "aws detect_key_phrases", "aws detect_dominant_language",
        "azure extract_key_phrases", "azure detect_language",
    }  # fmt: skip
    described = [
        operation
        for two in known_providers()
        for operation in two.operations("detect_pii_entities")
    ]
    assert described
    assert not any(map(WORDS.serves, described))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The weather was good and we went to the sea.", "en"),
        ("Das Wetter war gut und wir sind an die See gefahren.", "de"),
        ("Le temps était beau et nous sommes allés à la mer.", "fr"),
        ("El tiempo era bueno y fuimos al mar con los niños.", "es"),
        ("Il tempo era bello e siamo andati al mare con gli amici.", "it"),
        ("O tempo estava bom e fomos ao mar com os amigos, mas não ficamos.", "pt"),
        ("Het weer was goed en wij gingen naar de zee.", "nl"),
        ("12 + 30", "en"),
    ],
)
def test_language_is_detected_by_its_stop_words(text: str, language: str) -> None:
    aws = WORDS.answer(SERVED["aws detect_dominant_language"], text.encode())
    azure = WORDS.answer(SERVED["azure detect_language"], text.encode())

    assert aws["Languages"][0]["LanguageCode"] == language
    assert azure["detected_language"]["iso6391_name"] == language


def test_phrases_are_the_words_between_stop_words_with_offsets() -> None:
    text = "The old concert hall, where it\u2019s warm, is in the city of Rome"

    found = WORDS.answer(PHRASES, text.encode())["KeyPhrases"]

    phrases = [phrase["Text"] for phrase in found]
    assert phrases[0] == "old concert hall"
    assert {"city", "Rome"} <= set(phrases)
    assert all(
        text[phrase["BeginOffset"] : phrase["EndOffset"]] == phrase["Text"] for phrase in found
    )
    assert WORDS.answer(SERVED["azure extract_key_phrases"], text.encode()) == {
        "key_phrases": phrases
    }


@given(st.text(min_size=1))
def test_any_text_is_answered(text: str) -> None:
    for operation in SERVED.values():
        answer = WORDS.answer(operation, text.encode())
        for phrase in answer.get("KeyPhrases", []):
            assert text[phrase["BeginOffset"] : phrase["EndOffset"]] == phrase["Text"]


def test_empty_text_is_refused() -> None:
    for operation in SERVED.values():
        with pytest.raises(ServiceError):
            WORDS.answer(operation, b"")
