"""The files of the pipeline: the one module here that reads and writes."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.errors import CiguardError, suggestion
from ciguard.files import replace_file
from ciguard.knowledge.mining.abstract import RuleBook
from ciguard.knowledge.mining.extract import extract, prediction
from ciguard.knowledge.mining.learn import learn
from ciguard.knowledge.mining.rule_lines import RuleSyntaxError, from_lines, to_lines
from ciguard.knowledge.mining.shared_format import annotated_spans, parameter_texts
from ciguard.knowledge.mining.training import training_samples
from ciguard.libraries import LIBRARIES, library_of_distribution

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.knowledge.mining.annotations import AnnotatedSentence
    from ciguard.knowledge.mining.rules import RuleSet, Thresholds

LEARNED = ("tensorflow", "pytorch", "mxnet")
"""Libraries from whose documentation the rules that come with ciguard were learned."""
RULES = Path(str(resources.files("ciguard.knowledge.mining") / "rules"))
MAX_BYTES = 512 * 2**20
"""Of a file that is read whole."""


class KnowledgeFileError(CiguardError):
    """A file of sentences, documentation or rules cannot be read or written."""


@cache
def shipped_rules(library: str) -> RuleBook:
    """Return the rules that serve a library's documentation, from the files of the package.

    Args:
        library: one of `LEARNED`, or a library, or a distribution, that names one of these.
    """
    return _rule_book(library, RULES)


def learn_from_files(
    sentences: Path, out: Path, *, docs: Path | None = None, thresholds: Thresholds
) -> list[RuleSet]:
    """Learn rules from labelled sentences and write one file per library.

    Args:
        sentences: JSON Lines of labelled sentences.
        out: folder for the rule files; made if it is not there.
        docs: JSON Lines of the documentation that the sentences are from, when at hand.
        thresholds: which patterns become rules.

    Raises:
        CiguardError: if a file cannot be read or written, naming line, key and value.
    """
    texts = list(parameter_texts(_read_lines(docs), name=str(docs))) if docs else []
    spans = list(annotated_spans(_read_lines(sentences), name=str(sentences)))
    samples: dict[str, list[AnnotatedSentence]] = defaultdict(list)
    for (library, _, _), found in training_samples(spans, texts).items():
        samples[library] += found
    if not samples:
        msg = f"{sentences}: no labelled sentence in it, so nothing to learn from"
        raise KnowledgeFileError(msg)
    learned = [learn(name, samples[name], thresholds=thresholds) for name in sorted(samples)]
    for rules in learned:
        _write_lines(out / f"{_file_name(rules.library)}.jsonl", to_lines(rules))
    return learned


def extract_from_file(docs: Path, out: Path, *, rules: Path | None = None) -> tuple[int, int]:
    """Extract constraints from documentation given as data, one line per parameter.

    Args:
        docs: JSON Lines, one object per parameter.
        out: file for the constraints, sorted by library, API and parameter.
        rules: folder of rule files; those that come with ciguard when not given.

    Returns:
        The number of parameters, and of those that have a constraint.

    Raises:
        CiguardError: if a file cannot be read or written, naming line, key and value.
    """
    predictions = []
    found = 0
    for text in parameter_texts(_read_lines(docs), name=str(docs)):
        book = _rule_book(text.library, rules) if rules else shipped_rules(text.library)
        extracted = extract(text, book)
        found += bool(extracted)
        predictions.append(prediction(text, extracted))
    predictions.sort(key=lambda one: (one["library"], one["api"], one["parameter"]))
    _write_lines(out, (json.dumps(one, ensure_ascii=False) for one in predictions))
    return len(predictions), found


@cache
def _rule_book(library: str, folder: Path) -> RuleBook:
    name = _file_name(_rules_of(library))
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        known = [file.stem for file in folder.glob("*.jsonl")]
        served = [name for name, one in LIBRARIES.items().items() if one.documentation in known]
        hint = suggestion(library, [*known, *served])
        msg = f"library {library!r}: {folder} has no rules for its documentation.{hint}"
        raise KnowledgeFileError(msg)
    try:
        return RuleBook(from_lines(_read_lines(path)))
    except RuleSyntaxError as error:
        msg = f"{path}: {error}. Write it again with `ciguard api learn`."
        raise KnowledgeFileError(msg) from error


def _rules_of(library: str) -> str:
    """Return whose rules read the documentation of a library, or of a distribution of it."""
    known = LIBRARIES.items().get(library) or library_of_distribution(library)
    return known.documentation if known is not None and known.documentation else library


def _file_name(library: str) -> str:
    """Refuse what would leave the folder."""
    if library in {"", ".", ".."} or not library.replace("-", "").replace("_", "").isalnum():
        msg = f"library {library!r}: letters, digits, '-' and '_' are expected"
        raise KnowledgeFileError(msg)
    return library


def _read_lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > MAX_BYTES:
            msg = f"{path}: larger than {MAX_BYTES >> 20} MiB. Split it."
            raise KnowledgeFileError(msg)
        return path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        msg = f"{path}: not UTF-8 text (byte {error.start})"
        raise KnowledgeFileError(msg) from error
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise KnowledgeFileError(msg) from error


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a file so that nobody ever sees a part of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        msg = f"{path}: cannot be written: {error.strerror}"
        raise KnowledgeFileError(msg) from error
