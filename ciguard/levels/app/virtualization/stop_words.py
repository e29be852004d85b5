"""Detects the language of a text, and its key phrases, by stop words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import has_answer_writer, messages_of
from ciguard.levels.app.virtualization.validation import refuse_invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Scored

_STOP_WORDS_TEXT = {
    "en": "a an the and or but of to in on at is are was were be been it i he she we they this "
    "that with for as by not you have has had my his her our their from there which who",
    "de": "der die das den dem des ein eine einen und oder aber von zu in im an auf ist sind war "
    "waren es ich er sie wir nicht mit für als auch bei wie sich dass haben hat",
    "fr": "le la les l un une des du et ou mais de à au en dans sur est sont était il elle je nous "
    "vous ils ne pas avec pour que qui ce cette se plus par",
    "es": "el la los las un una unos y o pero de a en al del es son era está él ella yo nosotros "
    "no con para que se por su como más muy",
    "it": "il lo la i gli le un una e o ma di a da in nel su è sono era non con per che si io "
    "lui lei noi come più questo della",
    "pt": "o a os as um uma e ou mas de do da em no na é são era não com para que se eu ele ela "
    "nós por como mais muito",
    "nl": "de het een en of maar van te in op is zijn was waren ik hij zij we niet met voor als "
    "ook bij dat die er aan om naar",
}
_STOP_WORDS = {language: frozenset(words.split()) for language, words in _STOP_WORDS_TEXT.items()}
_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*|\d+")
_GAP = re.compile(r"[ \t]*")
"""Whitespace between the words of one phrase."""
_PHRASE_SCORE, _GUESS_SCORE = 0.95, 0.3
"""Scores of each phrase, and of a language that is guessed."""
_TASKS = frozenset({RecognitionTask.PHRASES, RecognitionTask.LANGUAGE})


@dataclass(frozen=True, slots=True)
class StopWordEngine:
    """Detects languages by their stop words, and phrases as the words between stop words.

    Source: RAKE (S. Rose et al., Automatic Keyword Extraction from Individual Documents, 2010).
    """

    name: str = "stop words"
    is_simulated: bool = False

    def serves(self, operation: Operation) -> bool:
        """Return whether the operation detects a language or key phrases."""
        is_supported = operation.task in _TASKS and operation.name != "detect_pii_entities"
        return is_supported and has_answer_writer(operation)

    def answer(self, operation: Operation, content: bytes) -> Json:
        """Return the language of a text, or its phrases; see `Engine`."""
        refuse_invalid(operation, content)
        text = content.decode("utf-8")
        languages = _languages(text)
        messages = messages_of(operation)
        if operation.task is RecognitionTask.LANGUAGE:
            return messages.listed_answer(operation, languages)
        offsets = {text[begin:end]: begin for begin, end in _phrases(text, languages[0][0])}
        answer = messages.listed_answer(operation, [(phrase, _PHRASE_SCORE) for phrase in offsets])
        return _with_offsets(answer, operation, offsets)


def _languages(text: str) -> Scored:
    """Return languages with their shares of all stop words, the largest first.

    Without a stop word in the text, return English with a low score.
    """
    words = Counter(word.lower() for word in _WORD.findall(text))
    counts = {
        language: sum(words[word] for word in stop_words)
        for language, stop_words in _STOP_WORDS.items()
    }
    total = sum(counts.values())
    if not total:
        return [("en", _GUESS_SCORE)]
    scored = [(language, count / total) for language, count in counts.items() if count]
    return sorted(scored, key=lambda language: -language[1])


def _phrases(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each phrase: consecutive words that are not stop words."""
    begin = end = -1
    for word in _WORD.finditer(text):
        is_stop_word = word.group().lower() in _STOP_WORDS[language]
        is_adjacent = end >= 0 and _GAP.fullmatch(text, end, word.start()) is not None
        if end >= 0 and (is_stop_word or not is_adjacent):
            yield begin, end
            end = -1
        if not is_stop_word:
            begin, end = word.start() if end < 0 else begin, word.end()
    if end >= 0:
        yield begin, end


def _with_offsets(answer: Json, operation: Operation, offsets: dict[str, int]) -> Json:
    """Return an answer with the offsets of its phrases."""
    records = [
        {
            **record,
            "BeginOffset": offsets[record["Text"]],
            "EndOffset": offsets[record["Text"]] + len(record["Text"]),
        }
        if isinstance(record, dict)
        else record
        for record in answer[operation.records]
    ]
    return {**answer, operation.records: records}
