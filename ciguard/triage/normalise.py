"""Normalisation of messages: text that differs between runs is replaced by marks such as `<n>`.

No other module removes such text. Rules do not change marks, so normalisation is idempotent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_TEXT = 300
"""Maximum length of the result. Messages start with the reason and end with details."""
_MAX_READ = 4000
"""Length of the beginning of a message that is normalised; the rest is ignored."""
_MAX_NAME_LENGTH = 60
"""Maximum length of a quoted name. A longer quoted word counts as a value."""

_DETAILS = re.compile(
    # Each phrase introduces a stack, signatures or a list of backends, which differ between builds.
    r"Exception raised from |C\+\+ CapturedTraceback|frame #\d+: |Stack ?trace:|Traceback \(most"
    r"|,? ?but expected one of:|[,.]? ?[Pp]lease (?:report|file) |is only available for these "
    r"|Debug information|\(Triggered internally at |Original stack trace"
)
_GENERATED = re.compile(r"[a-z0-9]{40,}\b")
"""Name of a file that a compiler generates and names after a hash of its content."""
_SOURCE = r"[\w.+-]+\.(?:cc|cpp|cxx|cu|cuh|c|h|hh|hpp|inc|inl|py|pyx|pyi|ipp)"


def _source_or_mark(match: re.Match[str]) -> str:
    """Return the name of a source file, which identifies a check; `<path>` for other paths.

    Names of generated files identify nothing.
    """
    name = re.split(r"[/\\]", match[0])[-1]
    is_source = re.fullmatch(_SOURCE, name) and not _GENERATED.match(name)
    return name if is_source else "<path>"


def _name_or_mark(match: re.Match[str]) -> str:
    """Return a quoted name of the library unchanged; `<text>` for other quoted text."""
    text = match["text"]
    return f"'{text}'" if _NAME.fullmatch(text) and len(text) <= _MAX_NAME_LENGTH else "<text>"


def _sorted_set(match: re.Match[str]) -> str:
    return f"{{{', '.join(sorted(match[0][1:-1].split(', ')))}}}"


def _number_or_source(match: re.Match[str]) -> str:
    """Return a number in the source text of a check unchanged; `<n>` for other numbers."""
    check = _CHECK_SOURCE.search(match.string)
    if check and check.lastgroup:
        start, end = check.span(check.lastgroup)
        if start <= match.start() and match.end() <= end:
            return match[0]
    return "<n>"


_CHECK_SOURCE = re.compile(
    r"Check fail(?:ed|ure): (?P<compared>.*?) ?\([^()]* vs\. "
    r"|Assertion [`'](?P<asserted>.*?)' failed"
    r"|^(?P<internal>.*?)INTERNAL ASSERT FAILED"
)
_NAME = re.compile(r"<\w+>|[A-Za-z_][\w.]*(?:::[\w.]+)*(?:\(\))?")
_ITEM = r"(?:<n>|<dtype>|<shape>|<text>|<value>|\?|None)"
_BARE_DTYPE = (
    r"(?:q?u?int(?:1|2|4|8|16|32|64)|b?float(?:8\w*|16|32|64|128)|complex(?:32|64|128|256)|bfloat16"
    r"|bool8|half|double)"
)
_TORCH_TYPE = (
    r"(?:Complex)?(?:BFloat16|Half|Float|Double)|Long|Int|Short|Char|Byte|Bool|QU?Int\d+(?:x\d)?"
)
_TENSORFLOW_TYPE = r"(?:<dtype>|float|bool|string|resource|variant|INVALID)(?:_ref)?"
_PYTHON_TYPE = r"(?:int|float|bool|str|bytes|complex|list|tuple|dict|NoneType|None|True|False|type)"

_NUMBER = (
    r"(?<![A-Za-z_\d])(?:(?<![\w)>\]])[-+](?=\.?\d))?(?:\d+(?:\.\d+)*\.?|\.\d+)"
    r"(?:[eE][-+]?\d+)?(?:(?:rc|a|b|\.?dev|\.?post)\d+)?(?:\+(?:cpu|cu\d+|git\w+))?[jLl]?(?!\d)"
)
_PATH = (
    r"(?:\b[A-Za-z]:[/\\]|(?<![\w<>)\]/])\.{0,2}/|(?<!\w)~/)(?:[\w.+@%~=-]+[/\\]+)*[\w.+@%~=-]+"
    rf"|\b(?:[\w.+@%=-]+[/\\])+{_SOURCE}\b"
)
_WORD_BEFORE_VALUE = r"not|got|found|received|of type|has type|type|from|to|was|value"
_PYTHON_VALUE = (
    rf"\b({_WORD_BEFORE_VALUE})((?: an?)?:?) "
    rf"(?:<class '{_PYTHON_TYPE}'>|'{_PYTHON_TYPE}'|{_PYTHON_TYPE}\b(?!['.(]))"
)
_TUPLE = (
    r"(?:(?<=[\s:=,(\[])|^)"
    rf"\( ?(?:{_ITEM}(?:, ?{_ITEM})*,|{_ITEM}(?:, ?{_ITEM})+)? ?\)"
)
_MARK = r"<n>|<dtype>|<shape>|<text>|<value>"

_RULES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\x1b\[[0-9;]*[A-Za-z]", ""),
        (r"[\s\x00-\x1f\x7f]+", " "),
        # Prefixes of log lines: TensorFlow's, then Abseil's, then Jittor's.
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?:? [IWEF] ", ""),
        (r"\b[IWEF]\d{4} \d\d:\d\d:\d+(?:\.\d+)? +(?:\d+ )?", ""),
        (r"\[[iwef] \d{4} \d\d:\d\d:\d\d(?:\.\d+)? *\w* *", "["),
        (r"\{\{[^{}]*\}\} ?", ""),  # TensorFlow's node: device, job, values of attributes
        (r"\bhttps?://[^\s<>\"')\]]+", "<url>"),
        (r"(?<![\w<])/(?:job|replica|task|device):[\w:/.-]+", "<device>"),
        (r"\b(?:cuda|CUDA|cpu|CPU|GPU|gpu|mps|xla):\d+\b", "<device>"),
        (_PATH, _source_or_mark),
        (rf"\"?\b({_SOURCE})\"?(?::\d+(?::\d+)?\b|\(\d+\)|,? line \d+)\]?", r"\1"),
        (r"\b0[xX][0-9a-fA-F]+\b", "<address>"),
        (r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "<hex>"),
        (
            r"(?<![\w.])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])(?!\d+e\d+\b)[0-9a-f]{8,}\b(?![+-])",
            "<hex>",
        ),
        # Element types, as Python, TensorFlow and torch write them.
        (rf"<?(?:class|dtype:) '[\w.]*\b{_BARE_DTYPE}'>", "<dtype>"),
        (rf"(?<![\w<])(?:(?:torch|tf|np|numpy|jnp)\.)?{_BARE_DTYPE}(?:_ref)?\b", "<dtype>"),
        (r"\bDT_[A-Z]+[0-9]*(?:_\w+)?\b", "<dtype>"),
        (
            rf"\b(?:torch\.)?(?:cuda\.)?(?:{_TORCH_TYPE})(?:Tensor|Type)?\b(?![(.])",
            "<dtype>",
        ),
        # TensorFlow's names of types, which depend on the values of a call.
        (
            rf"(?<![\w<]){_TENSORFLOW_TYPE} expected, got {_TENSORFLOW_TYPE}",
            "<dtype> expected, got <dtype>",
        ),
        (
            rf"\bexpected to be an? {_TENSORFLOW_TYPE} tensor but is an? {_TENSORFLOW_TYPE} tensor",
            "expected to be a <dtype> tensor but is a <dtype> tensor",
        ),
        (r"(\[Op:\w+\]) name\b.*$", r"\1"),  # the name depends on version and case
        (_PYTHON_VALUE, r"\1\2 <value>"),
        (r"\bgot \((?:[\w.=<>]+(?:, )?)*\)", "got <value>"),
        (r"(?<![\w.<])[-+]?(?:nan|inf)\b", "<n>"),
        (r"\b\d+(?:x\d+)+\b", "<shape>"),
        (_NUMBER, _number_or_source),
        (r"(?<=[A-Za-z])_\d+(?![A-Za-z\d])", "_<n>"),
        # Quoted text: names are kept, values become marks.
        (r"(?<!\w)b?'(?P<text>(?:[^'\\]|\\.)*)'(?!\w)", _name_or_mark),
        (r"(?<!\w)b?\"(?P<text>(?:[^\"\\]|\\.)*)\"", _name_or_mark),
        (r"`(?P<text>[^`]*)`", _name_or_mark),
        # Python prints a set in the order of its hashes, which differs between processes.
        (r"\{(?:'\w*'|None|<\w+>)(?:, (?:'\w*'|None|<\w+>))+\}", _sorted_set),
        # Lists of short items, from the innermost to the outermost.
        (rf"\[ ?(?:{_ITEM}(?:[, ]+{_ITEM})*,?)? ?\]", "<shape>"),
        (_TUPLE, "<shape>"),
        (r"\b(?:torch\.Size|TensorShape)\((?:<shape>|<n>)?\)", "<shape>"),
        (r"\b(?:tensor|array|Tensor|Parameter|Var)\((?:<shape>|<n>)[^()]*\)", "<tensor>"),
        (r"<tf\.Tensor[^<>]*(?:<\w+>[^<>]*)*>", "<tensor>"),
        (rf"({_MARK})(?:(?:, ?| and | or |, and |, or |\|)\1)+", r"\1"),
        (r"\[(<shape>|<tensor>|<dtype>)\]", r"\1"),
    )
)


@dataclass(frozen=True, slots=True)
class _FuzzedTexts:
    """Strings of the case, which a library may quote in its messages."""

    texts: tuple[str, ...]

    def remove(self, message: str) -> str:
        """Return a message in which the strings are replaced by marks."""
        for text in self.texts:
            for quote in ("'", '"', "`"):
                message = message.replace(f"{quote}{text}{quote}", "<text>")
            word = text.strip()
            if len(word) >= _MIN_UNQUOTED_LENGTH:
                message = message.replace(word, "<text>")
            elif word and not _WORD.fullmatch(word):
                message = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "<text>", message)
        return message


_MIN_UNQUOTED_LENGTH = 12
"""Minimum length of a fuzzed string that is removed even inside a word."""
_WORD = re.compile(r"[A-Z]?[a-z]*|[\W\d_]*")
"""Ordinary words and symbols. A fuzzed string of this form is removed only in quotes, because the
library's own text may contain it."""


def normalise(message: str, *, fuzzed: tuple[str, ...] = ()) -> str:
    """Return a message without text that differs between runs of the same defect.

    Args:
        message: the text of an exception, or a line of a log.
        fuzzed: the strings among the case's arguments.

    Returns:
        One line of at most `MAX_TEXT` characters. Idempotent.
    """
    texts = sorted({text for text in fuzzed if text.strip()}, key=lambda text: (-len(text), text))
    return _normalised(_FuzzedTexts(tuple(texts)).remove(message[:_MAX_READ]))


@lru_cache(maxsize=4096)
def _normalised(message: str) -> str:
    """Apply all rules to a message until it no longer changes."""
    previous, text = "", message
    # The result of a rule may match another rule, for example for a list of lists. Each pass makes
    # the text less specific, so the loop ends.
    for _ in range(_MAX_PASSES):
        if text == previous:
            break
        previous, text = text, _one_pass(text)
    return text


_MAX_PASSES = 12
_TEXT_AFTER_CHECK = re.compile(r"(Check fail(?:ed|ure): .*? ?\([^()]* vs\. [^()]*\)).*")
"""A failed check, and the text after its compared values, which is removed."""
_TRAILING_TEXT = re.compile(r"(?: *<text>)+$")
"""Marks for fuzzed text at the end of a message. They are removed, because the text may be empty in
another case."""


def _one_pass(text: str) -> str:
    """Apply each rule to a message once."""
    details = _DETAILS.search(text)
    if details and details.start() > 0:
        text = text[: details.start()]
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    text = _TEXT_AFTER_CHECK.sub(r"\1", text)
    text = _TRAILING_TEXT.sub("", text).strip(" ,;:")
    return text[:MAX_TEXT].rstrip(" ,;:<")
