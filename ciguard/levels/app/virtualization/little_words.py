"""Tells the language of a text, and its phrases, by the little words that languages are full of."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import are_written, messages_of
from ciguard.levels.app.virtualization.validation import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Scored

_OF_LANGUAGES = {
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
_LITTLE = {language: frozenset(words.split()) for language, words in _OF_LANGUAGES.items()}
_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*|\d+")
_GAP = re.compile(r"[ \t]*")
"""Between the words of one phrase."""
_SURE, _GUESS = 0.95, 0.3
_TASKS = frozenset({RecognitionTask.PHRASES, RecognitionTask.LANGUAGE})


@dataclass(frozen=True, slots=True)
class LittleWords:
    """Takes what is between little words for phrases (as RAKE does: Rose et al., 2010)."""

    name: str = "little words"
    is_simulated: bool = False

    def serves(self, operation: Operation) -> bool:
        """Return whether it is asked for a language, or for all phrases of a text."""
        is_asked = operation.task in _TASKS and operation.name != "detect_pii_entities"
        return is_asked and are_written(operation)

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return the language of a text, or its phrases; see `Engine`."""
        refuse(operation, about)
        text = about.decode("utf-8")
        languages = _languages(text)
        messages = messages_of(operation)
        if operation.task is RecognitionTask.LANGUAGE:
            return messages.listed_answer(operation, languages)
        places = {text[begin:end]: begin for begin, end in _phrases(text, languages[0][0])}
        answer = messages.listed_answer(operation, [(one, _SURE) for one in places])
        return _placed(answer, operation, places)


def _languages(text: str) -> Scored:
    """Return languages, the likeliest first; English as a guess where no word tells."""
    words = Counter(word.lower() for word in _WORD.findall(text))
    counts = {language: sum(words[one] for one in little) for language, little in _LITTLE.items()}
    whole = sum(counts.values())
    if not whole:
        return [("en", _GUESS)]
    found = [(language, count / whole) for language, count in counts.items() if count]
    return sorted(found, key=lambda one: -one[1])


def _phrases(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield where each phrase begins and ends: words in a row, none of them a little one."""
    begin = end = -1
    for word in _WORD.finditer(text):
        is_little = word.group().lower() in _LITTLE[language]
        is_next = end >= 0 and _GAP.fullmatch(text, end, word.start()) is not None
        if end >= 0 and (is_little or not is_next):
            yield begin, end
            end = -1
        if not is_little:
            begin, end = word.start() if end < 0 else begin, word.end()
    if end >= 0:
        yield begin, end


def _placed(answer: Json, operation: Operation, places: dict[str, int]) -> Json:
    """Return an answer with the places of its phrases, if it tells any."""
    records = [
        {
            **one,
            "BeginOffset": places[one["Text"]],
            "EndOffset": places[one["Text"]] + len(one["Text"]),
        }
        if isinstance(one, dict)
        else one
        for one in answer[operation.records]
    ]
    return {**answer, operation.records: records}
