"""Files of the mining pipeline. The only module of this package that does I/O."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.errors import CiguardError, suggestion
from ciguard.files import replace_file
from ciguard.knowledge.mining.explicit import EXPLICIT_RULES
from ciguard.knowledge.mining.extract import extract, prediction
from ciguard.knowledge.mining.learn import SHARED, learn_all
from ciguard.knowledge.mining.rule_book import RuleBook
from ciguard.knowledge.mining.rule_lines import RuleSyntaxError, from_lines, to_lines
from ciguard.knowledge.mining.shared_format import labelled_sentences, parameter_texts
from ciguard.knowledge.mining.training import training_samples
from ciguard.libraries import LIBRARIES, library_of_distribution

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.knowledge.mining.annotations import AnnotatedSentence
    from ciguard.knowledge.mining.rules import RuleSet, Thresholds

LEARNED_LIBRARIES = ("tensorflow", "pytorch", "mxnet")
"""Libraries from whose documentation the shipped rules were learned."""
RULES_FOLDER = Path(str(resources.files("ciguard.knowledge.mining") / "rules"))
"""Folder of the rules that are shipped with ciguard."""
MAX_BYTES = 512 * 2**20
"""Maximum size of a file that is read, in bytes."""


class KnowledgeFileError(CiguardError):
    """A file of sentences, documentation or rules cannot be read or written."""


@cache
def shipped_rules(library: str) -> RuleBook:
    """Return the rules shipped with ciguard for a library's documentation.

    Args:
        library: one of `LEARNED_LIBRARIES`, or a library or distribution whose documentation has
            the style of one of them.
    """
    return _rule_book(library, RULES_FOLDER)


def learn_from_files(
    sentences: Path, out: Path, *, docs: Path | None = None, thresholds: Thresholds
) -> list[RuleSet]:
    """Learn rules from labelled sentences, and write a file per library and one of shared rules.

    Args:
        sentences: JSON Lines of labelled sentences.
        out: folder for the rule files; created if missing.
        docs: JSON Lines of the documentation that contains the sentences; None if not available.
        thresholds: limits that decide which patterns become rules.

    Raises:
        CiguardError: if a file cannot be read or written. The message names line, key and value.
    """
    texts = list(parameter_texts(_read_lines(docs), name=str(docs))) if docs else []
    spans = list(labelled_sentences(_read_lines(sentences), name=str(sentences)))
    samples: dict[str, list[AnnotatedSentence]] = defaultdict(list)
    for (library, _, _), sentences_of_parameter in training_samples(spans, texts).items():
        samples[library] += sentences_of_parameter
    if not samples:
        msg = (
            f"{sentences} contains no labelled sentence. Add sentences in the format of "
            "docs/knowledge.md."
        )
        raise KnowledgeFileError(msg)
    if SHARED in samples:
        msg = f"{sentences}: {SHARED!r} is the name of the rules of all libraries. Rename it."
        raise KnowledgeFileError(msg)
    rule_sets = learn_all(samples, thresholds=thresholds)
    for rules in rule_sets:
        _write_lines(out / f"{_file_name(rules.library)}.jsonl", to_lines(rules))
    return rule_sets


def extract_from_file(docs: Path, out: Path, *, rules: Path | None = None) -> tuple[int, int]:
    """Extract constraints from a file of documentation, one line per parameter.

    Args:
        docs: JSON Lines, one object per parameter.
        out: file for the constraints, sorted by library, API and parameter.
        rules: folder of rule files; None for the rules shipped with ciguard.

    Returns:
        The number of parameters, and the number of those with a constraint.

    Raises:
        CiguardError: if a file cannot be read or written. The message names line, key and value.
    """
    predictions = []
    constrained_count = 0
    for text in parameter_texts(_read_lines(docs), name=str(docs)):
        book = _rule_book(text.library, rules) if rules else shipped_rules(text.library)
        constraints = extract(text, book)
        constrained_count += bool(constraints)
        predictions.append(prediction(text, constraints))
    predictions.sort(key=lambda line: (line["library"], line["api"], line["parameter"]))
    _write_lines(out, (json.dumps(line, ensure_ascii=False) for line in predictions))
    return len(predictions), constrained_count


@cache
def _rule_book(library: str, folder: Path) -> RuleBook:
    """Return the rules for a library's documentation from a folder of rule files."""
    name = _file_name(_documentation_of(library))
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        available_names = [file.stem for file in folder.glob("*.jsonl") if file.stem != SHARED]
        supported_libraries = [
            name for name, lib in LIBRARIES.items().items() if lib.documentation in available_names
        ]
        hint = suggestion(library, [*available_names, *supported_libraries])
        msg = f"library {library!r}: {folder} has no rules for this library's documentation.{hint}"
        raise KnowledgeFileError(msg)
    shared = folder / f"{SHARED}.jsonl"
    learned = _rules_in(shared).rules if shared.is_file() else ()
    return RuleBook(_rules_in(path), (*learned, *EXPLICIT_RULES))


def _rules_in(path: Path) -> RuleSet:
    try:
        return from_lines(_read_lines(path))
    except RuleSyntaxError as error:
        msg = f"{path}: {error}. Regenerate the file with `ciguard api learn`."
        raise KnowledgeFileError(msg) from error


def _documentation_of(library: str) -> str:
    """Return the name of the rules that fit the documentation of a library or distribution."""
    supported_library = LIBRARIES.items().get(library) or library_of_distribution(library)
    return (
        supported_library.documentation
        if supported_library is not None and supported_library.documentation
        else library
    )


def _file_name(library: str) -> str:
    """Return the file name of a library's rules.

    Raises:
        KnowledgeFileError: if the name could lead out of the folder.
    """
    if library in {"", ".", ".."} or not library.replace("-", "").replace("_", "").isalnum():
        msg = (
            f"library {library!r}: the name of a library may contain only letters, digits, "
            "'-' and '_'"
        )
        raise KnowledgeFileError(msg)
    return library


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a text file, which must not be too large."""
    try:
        if path.stat().st_size > MAX_BYTES:
            msg = f"{path} is larger than {MAX_BYTES >> 20} MiB. Split the file."
            raise KnowledgeFileError(msg)
        return path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        msg = f"{path} is not UTF-8 text (byte {error.start}). Convert the file to UTF-8."
        raise KnowledgeFileError(msg) from error
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}. Name a readable file."
        raise KnowledgeFileError(msg) from error


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a file atomically: readers see the old or the new content, never a part."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}. Name another file."
        raise KnowledgeFileError(msg) from error
