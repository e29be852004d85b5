"""Converts a sentence to its normal form: words, and placeholders with the texts that they replace.

`A 4-D `Tensor` of shape `[batch, height]`` becomes `a CONSTANT_NUM d D_STRUCTURE of shape SHAPE`
(DocTer, section 3.1). Rules match words and placeholders; constraints use the replaced texts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.knowledge.mining.keywords import dtype_name, structure_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

DTYPE, STRUCTURE = "D_TYPE", "D_STRUCTURE"
NUMBER, FLOAT, BOOL = "CONSTANT_NUM", "CONSTANT_FLOAT", "CONSTANT_BOOL"
RELATION, PARAMETER, ENUM, SHAPE = "REXPR", "PARAM", "ENUM", "SHAPE"
CHOICE = "ENUMS"
"""Placeholder for several `ENUM` in a row: several quoted words are a choice, one may be a name."""
PLACEHOLDERS = frozenset(
    (DTYPE, STRUCTURE, NUMBER, FLOAT, BOOL, RELATION, PARAMETER, ENUM, SHAPE, CHOICE),
)
"""All placeholders of a normal form."""


@dataclass(frozen=True, slots=True)
class Token:
    """Word or placeholder of a normal form."""

    text: str
    """Word in lower case, or placeholder."""
    replaced_texts: tuple[str, ...] = ()
    """Texts that the placeholder replaces; several if a run of placeholders was joined."""


_QUOTES = "'\"\u2018\u2019\u201c\u201d"
_QUOTED = re.compile(
    rf"(`{{1,3}})([^`\n]{{1,120}})`{{1,3}}"
    rf"|(?<!\w)([{_QUOTES}])([^{_QUOTES}\n]{{0,60}})[{_QUOTES}](?!\w)"
)
_ROLE = re.compile(r":[a-z]{2,10}:(?=`)")
_BETWEEN = re.compile(
    r"-?\d+(?:\.\d+)?\s?(?:<=?|≤)\s?[A-Za-z_][\w\[\]]{0,30}\s?(?:<=?|≤)\s?-?\d+(?:\.\d+)?"
)
_ANGLED = re.compile(r"<([A-Za-z_][\w.]{0,40})>")
_RELATION = re.compile(
    r"(?:<=|>=|=>|=<|!=|==|<|>|≤|≥)\s{0,2}(-?\d+(?:\.\d+)?|[A-Za-z_][\w.]{0,40})?"
)
_RANK = re.compile(r"(\d)\s?-?\s?(?:[dD]|[dD]im(?:ension(?:al|s)?)?)\b")
_RANK_IN_WORDS = re.compile(r"(one|two|three|four|five)[ -]dimensional\b", re.IGNORECASE)
NUMERAL = re.compile(r"[-+]?(?:\d+\.\d+|\.\d+|\d+)(?:[eE][-+]?\d+)?(?!\w)|\d+")
_WORD = re.compile(r"python:\w{1,40}|array[-_]like|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_DIGIT_BY_WORD = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
_OPENING, _CLOSING = "([{", ")]}"
MAX_BRACKET_LENGTH = 300
"""Maximum length of a bracket, in characters."""
MAX_TEXT_LENGTH = 4_000
"""Maximum number of characters of a sentence or type that are read."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*$")
_OPTION = re.compile(r"[\w.+\-/:]{1,40}(?: [\w.+\-/]{1,20})?$")
_ITEM = re.compile(rf"[{_QUOTES}]([^{_QUOTES}]{{0,60}})[{_QUOTES}]|[^,{{}}\s][^,{{}}]{{0,60}}")
_PROSE = re.compile(r"[A-Za-z][\w ,.'/:=`\-]*$")
_MAX_PROSE_WORDS = 4
_SIZE_LIKE = re.compile(r"(?:[A-Z]\w?|\w*_\w*|\w*\d\w*)$")
_REMARKS = {"optional", "default", "required", "deprecated", "inclusive", "exclusive"}
_WORDS_BEFORE_PARAMETER = {"as", "than"}
_ARTICLES = {"an": "a"}
_JOINERS = {"or", "and"}


def normalise(text: str, parameters: Collection[str] = ()) -> tuple[Token, ...]:
    """Return the normal form of a sentence.

    Args:
        text: one sentence; brackets and quotes need not match. The first `MAX_TEXT_LENGTH`
            characters are read.
        parameters: the names of the API's parameters. If the sentence quotes such a name, it
            refers to the parameter.
    """
    return _with_runs_joined(list(_SentenceReader(text[:MAX_TEXT_LENGTH], parameters).tokens()))


def _with_runs_joined(tokens: list[Token]) -> tuple[Token, ...]:
    """Return the tokens with each run of one placeholder, such as `int or float`, as one token."""
    joined_tokens: list[Token] = []
    for token in tokens:
        if token.text in PLACEHOLDERS and joined_tokens:
            previous_token = joined_tokens[-1]
            if (
                previous_token.text in _JOINERS
                and len(joined_tokens) > 1
                and joined_tokens[-2].text == token.text
            ):
                joined_tokens.pop()
                previous_token = joined_tokens[-1]
            if previous_token.text == token.text:
                joined_tokens[-1] = Token(
                    token.text, (*previous_token.replaced_texts, *token.replaced_texts)
                )
                continue
        joined_tokens.append(token)
    return tuple(map(_as_choice, joined_tokens))


def _as_choice(token: Token) -> Token:
    is_choice = token.text == ENUM and len(token.replaced_texts) > 1
    return Token(CHOICE, token.replaced_texts) if is_choice else token


class _SentenceReader:
    """Tokeniser of one sentence: reads from left to right with bounded lookahead."""

    def __init__(self, text: str, parameters: Collection[str]) -> None:
        self._text = text
        self._parameters = parameters
        self._previous_word = ""

    def tokens(self) -> Iterator[Token]:
        """Yield the tokens of the sentence; runs of a placeholder are not yet joined."""
        position = 0
        while position < len(self._text):
            tokens, after = self._next_tokens(position)
            for token in tokens:
                self._previous_word = token.text
                yield token
            position = after

    def _next_tokens(self, position: int) -> tuple[list[Token], int]:
        """Return the tokens at a position, and the position after them."""
        character = self._text[position]
        if character.isspace():
            return [], position + 1
        if character in _OPENING:
            return self._bracket(position)
        if character.isalpha() or character == "_":
            return self._word(position)
        return self._quoted_or_role(position) or self._relation(position) or self._number(position)

    def _quoted_or_role(self, position: int) -> tuple[list[Token], int] | None:
        """Return the tokens of quoted text, or skip a role before it: ``:class:`Tensor` ``."""
        if role := _ROLE.match(self._text, position):
            return [], role.end()
        if quotation := _QUOTED.match(self._text, position):
            return self._quoted_text(
                quotation.group(2) or quotation.group(4) or ""
            ), quotation.end()
        return None

    def _relation(self, position: int) -> tuple[list[Token], int] | None:
        """Return the tokens of a relation, such as `>= 0`; None if there is none."""
        if two_sided_relation := _BETWEEN.match(self._text, position):
            return [Token(RELATION, (two_sided_relation.group(),))], two_sided_relation.end()
        if angled_word := _ANGLED.match(self._text, position):
            return self._plain_word(angled_word.group(1)), angled_word.end()
        if relation := _RELATION.match(self._text, position):
            return [Token(RELATION, (relation.group(),))], relation.end()
        return None

    def _number(self, position: int) -> tuple[list[Token], int]:
        """Return the tokens of a number or rank; skip any other character."""
        if rank := _RANK.match(self._text, position):
            return [Token(NUMBER, (rank.group(1),)), Token("d")], rank.end()
        if number := NUMERAL.match(self._text, position):
            return [number_token(number.group())], number.end()
        return [], position + 1

    def _word(self, position: int) -> tuple[list[Token], int]:
        """Return the tokens of a word, with its bracket if one follows."""
        if rank := _RANK_IN_WORDS.match(self._text, position):
            return [Token(NUMBER, (_DIGIT_BY_WORD[rank.group(1).lower()],)), Token("d")], rank.end()
        word = _WORD.match(self._text, position)
        if word is None:  # a letter of another script
            return [], position + 1
        after = word.end()
        next_character = self._text[after : after + 1]
        if next_character and next_character in _OPENING:
            # In `rank(x)` and `Tuple[int, int]` the bracket belongs to the word.
            end = _bracket_end(self._text, after)
            if end:
                bracket = Token(SHAPE, (self._text[after:end],))
                return [*self._plain_word(word.group()), bracket], end
        return self._plain_word(word.group()), after

    def _plain_word(self, word: str) -> list[Token]:
        """Return the tokens of an unquoted word."""
        if word in {"True", "False", "true", "false"}:
            return [Token(BOOL, (word.capitalize(),))]
        if keyword := _keyword_token(word):
            return [keyword]
        if word in self._parameters and (
            "_" in word or self._previous_word in _WORDS_BEFORE_PARAMETER
        ):
            return [Token(PARAMETER, (word,))]
        return [Token(_word_form(part)) for part in re.split(r"[.:]", word) if part]

    def _quoted_text(self, content: str) -> list[Token]:
        """Return the tokens of text in quotes: a value, a name, an option or a phrase."""
        content = content.strip(" ~.,")
        unquoted = content.strip("'\"")
        if not unquoted:
            return []
        if unquoted != content and _OPTION.match(unquoted):
            return [Token(ENUM, (unquoted,))]
        if token := _literal_token(content) or self._name_token(content):
            return [token]
        if _OPTION.match(content):
            return [Token(ENUM, (content,))]
        if "'" in content or '"' in content:
            return []
        return list(_SentenceReader(content.replace("`", " "), self._parameters).tokens())

    def _name_token(self, content: str) -> Token | None:
        if content in self._parameters:
            return Token(PARAMETER, (content,))
        return _keyword_token(content)

    def _bracket(self, position: int) -> tuple[list[Token], int]:
        """Return the tokens of a bracket: a set of options, a remark or a shape."""
        end = _bracket_end(self._text, position)
        if not end:
            return [], position + 1
        content = self._text[position + 1 : end - 1].strip()
        if self._text[position] == "{":
            return _option_tokens(content), end
        if self._text[position] == "(" and _is_prose(content):
            words = [word.lower() for word in re.findall(r"[A-Za-z]\w*|\d+", content)]
            return [Token("("), *map(Token, words[:_MAX_PROSE_WORDS]), Token(")")], end
        return [Token(SHAPE, (self._text[position:end],))], end


def _keyword_token(word: str) -> Token | None:
    if dtype := dtype_name(word):
        return Token(DTYPE, (dtype,))
    if structure := structure_name(word):
        return Token(STRUCTURE, (structure,))
    return None


def _literal_token(content: str) -> Token | None:
    """Return the token of a quoted value: `None`, `True`, `4`, `>= 0`, `[batch, 3]`."""
    if content == "None":
        return Token("none")
    if content in {"True", "False"}:
        return Token(BOOL, (content,))
    if content[0] in _OPENING and (end := _bracket_end(content, 0)):
        return Token(SHAPE, (content[:end],))
    if match := _BETWEEN.match(content) or _RELATION.match(content):
        return Token(RELATION, (match.group(),))
    return number_token(content) if NUMERAL.fullmatch(content) else None


def _word_form(word: str) -> str:
    word = word.lower()
    return _ARTICLES.get(word, word)


def number_token(text: str) -> Token:
    """Return the token of a number: a placeholder for integers or for other numbers."""
    is_whole = text.lstrip("+-").isdecimal()
    return Token(NUMBER if is_whole else FLOAT, (text.lstrip("+"),))


def _bracket_end(text: str, position: int) -> int:
    """Return the position after the bracket that closes the one at `position`, or 0."""
    depth = 0
    for index in range(position, min(len(text), position + MAX_BRACKET_LENGTH)):
        if text[index] in _OPENING:
            depth += 1
        elif text[index] in _CLOSING:
            depth -= 1
            if depth == 0:
                return index + 1
    return 0


def _is_prose(content: str) -> bool:
    """Return whether a bracket contains prose, such as `(optional)`, instead of a shape's sizes."""
    if not _PROSE.match(content):
        return False
    parts = [part.strip() for part in content.split(",")]
    if any(part.lower() in _REMARKS or part.count(" ") > 1 for part in parts):
        return True
    return len(parts) == 1 and not _SIZE_LIKE.match(content)


def _option_tokens(content: str) -> list[Token]:
    """Return the tokens of a set of values such as `{None, 'float32', 'float64'}`."""
    items = [match.group(1) or match.group().strip() for match in _ITEM.finditer(content)]
    options = tuple(item for item in items if item != "None")
    if not options:
        return []
    if all(NUMERAL.fullmatch(option) for option in options):
        return [Token(NUMBER, options)]
    return [Token(ENUM, options)]
