"""Names, docstrings, comments, help and pages use the terms of the field.

Words of a dialect that the project once had are reported with file, line and replacement; so are
docstrings of attributes that are fragments, and docstrings with sentences that are too long.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "ciguard").rglob("*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
CHANGELOG = ROOT / "CHANGELOG.md"
HELP = ROOT / "docs" / "commands.md"

WORDS = {
    "told, tells, tell": "report, show, distinguish",
    "said": "state, report, document",
    "anew": "again, new",
    "whoever, whosever": "the user, any",
    "nobody": "name the subject",
    "heard": "receive, observe",
    "made answer, made answers": "stub response",
    "lesson, lessons, taught": "feedback",
    "habits(?! FILE)": "confusion matrix",
    "comes to the same": "is equivalent",
    "dies, ends the process": "crashes, exits",
    "stranger, strangers": "undeclared parameter",
    "whether that is": "whether it is",
    "is taken for": "counts as, is assumed to be",
    "says nothing": "is inconclusive",
    "and the like": "name the class",
    "rooms": "packages",
}
"""Words that a reader of the field stumbles over, and what to write instead."""
NAME_PARTS = {
    "told": "reported",
    "tells": "reports",
    "said": "message",
    "says": "reports",
    "anew": "again",
    "heard": "received",
    "desk": "issue_filer",
    "lesson": "feedback",
    "lessons": "feedback",
    "taught": "updated",
    "felt": "sentiment",
    "habits": "confusion",
}
"""Parts of names, and what to write instead."""
MAX_WORDS = 30
"""Maximum number of words in a sentence of a docstring."""
_FRAGMENT = re.compile(
    r"(?:Of|In|With|By|That|Where|If|As|From|What|Whether|To|At|On|Which|Who|How|Without|Until|After"
    r"|Before|Is|Are|Was|Has|Holds|It|They|Beside|Because|Since|While)\b"
)
"""Beginnings of a docstring of an attribute that lean on the attribute's name."""
_CODE = re.compile(r'```.*?```|`[^`]*`|<[^>]*>|"\w+":', re.DOTALL)
_INDENTED = re.compile(r"^ {4}.*$", re.MULTILINE)
"""Lines of examples and of lists of arguments."""
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n|\n\s*[-|]")


def banned_words(text: str) -> Iterator[str]:
    """Yield each banned word of a text with its replacement."""
    for words, replacement in WORDS.items():
        alternatives = "|".join(words.split(", "))
        for match in re.finditer(rf"\b(?:{alternatives})\b", text, flags=re.IGNORECASE):
            yield f"{match[0]!r}: write {replacement}"


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """Yield line and text of each docstring, and whether it is that of an attribute."""
    for node in ast.walk(tree):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text, False
        if isinstance(node, ast.Module | ast.ClassDef):
            for assigned, after in zip(node.body, node.body[1:], strict=False):
                match after:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        if isinstance(assigned, ast.Assign | ast.AnnAssign):
                            yield after.lineno, text, True
                    case _:
                        pass


def faults_of_source(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and fault of each word, name, fragment and sentence to change in a module."""
    for line, text, is_attribute in docstrings(ast.parse(source)):
        plain = _CODE.sub("x", text)
        yield from ((line, fault) for fault in banned_words(plain))
        if is_attribute and _FRAGMENT.match(text):
            yield line, f"a fragment, which leans on its name: {text[:60]!r}"
        for sentence in _SENTENCE.split(_INDENTED.sub("", plain)):
            if (count := len(sentence.split())) > MAX_WORDS:
                yield line, f"a sentence of {count} words: {sentence[:60]!r}"
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield from ((token.start[0], fault) for fault in banned_words(token.string))
        if token.type == tokenize.NAME:
            for part in NAME_PARTS.keys() & {*token.string.lower().split("_")}:
                yield token.start[0], f"{token.string}: write {NAME_PARTS[part]} for {part!r}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_module_uses_the_terms_of_the_field(path: Path) -> None:
    faults = [f"line {line}: {text}" for line, text in faults_of_source(path.read_text("utf-8"))]

    assert not faults


@pytest.mark.parametrize(
    "path", [page for page in PAGES if page != CHANGELOG], ids=lambda path: path.name
)
def test_page_uses_the_terms_of_the_field(path: Path) -> None:
    text = path.read_text("utf-8")
    prose = text if path == HELP else _CODE.sub("x", text)

    assert not list(banned_words(prose))


def test_faulty_source_is_reported_with_line_and_replacement() -> None:
    source = '''
"""Tell whoever asked."""
_HABITS = 3
"""Of the first call."""
retries = 3  # tried anew
'''

    faults = sorted(faults_of_source(source))

    assert [line for line, _ in faults] == [2, 2, 3, 4, 5]
    assert "'Tell': write report, show, distinguish" in [fault for _, fault in faults]


def test_long_sentence_is_reported_and_a_list_is_not() -> None:
    long = f'"""{" ".join(["word"] * 31)}."""'
    short = '"""' + ". ".join([" ".join(["word"] * 20)] * 3) + '."""'

    assert len(list(faults_of_source(long))) == 1
    assert not list(faults_of_source(short))
