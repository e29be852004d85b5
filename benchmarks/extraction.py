"""How well constraints are extracted from documentation: `python benchmarks/extraction.py FOLDER`.

FOLDER holds labelled documentation, the ground truth, what DocTer itself extracted, and the scorer
(`score_constraints.py`), which is run from there: the figures are its own. Rules are learned on
four fifths of the APIs and asked about the last fifth, from the raw text on, five times over; APIs
with one last name (aliases) stay on one side. Several splits show what is luck.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.knowledge.mining import (
    EXPLICIT_RULES,
    SHARED,
    RuleBook,
    RuleSet,
    extract,
    learn_all,
    prediction,
)
from ciguard.knowledge.mining.rule_book import with_margins
from ciguard.knowledge.mining.shared_format import labelled_sentences, parameter_texts
from ciguard.knowledge.mining.training import Key, training_samples

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from types import ModuleType

    from ciguard.knowledge.mining import ParameterText
    from ciguard.knowledge.mining.annotations import AnnotatedSentence

LIBRARIES = ("tensorflow", "pytorch", "mxnet")
CATEGORIES = {
    "dtype": ("dtype",),
    "structure": ("structure",),
    "shape": ("shape", "ndim"),
    "valid value": ("range", "enum"),
}
PUBLISHED = {"tensorflow": 81.7, "pytorch": 77.9, "mxnet": 85.1, "total": 81.6}
"""F1 in the DocTer paper, section 5.1, on its own split of its own data."""
MARGINS = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
FOLDS = 5


class Data:
    """The folder's files."""

    def __init__(self, folder: Path) -> None:
        self.scorer = _module(folder / "score_constraints.py")
        self.gold = self.scorer.load(folder / "dev_gold.jsonl")
        self.published = self.scorer.load(folder / "dev_docter_published.jsonl")
        inputs, spans = folder / "dev_inputs.jsonl", folder / "dev_sentences.jsonl"
        with inputs.open(encoding="utf-8") as lines:
            found = parameter_texts(lines, name=str(inputs))
            self.texts = {(t.library, t.api, t.parameter): t for t in found}
        with spans.open(encoding="utf-8") as lines:
            labelled = labelled_sentences(lines, name=str(spans))
            self.samples = training_samples(labelled, self.texts.values())

    def f1(self, predictions: Mapping[Key, Any], library: str, category: str) -> float:
        """Return F1 in percent over the parameters that are predicted."""
        gold = {key: self.gold[key] for key in predictions}
        table, _, _ = self.scorer.score(gold, predictions)
        return float(self.scorer.prf(table[library, category])[2])


def _module(path: Path) -> ModuleType:
    found = importlib.util.spec_from_file_location("score_constraints", path)
    if found is None or found.loader is None:
        message = f"{path}: not a Python file"
        raise SystemExit(message)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def fold_of(key: Key, seed: str, folds: int = FOLDS) -> int:
    """Return the fold of a parameter: the same for all aliases of its API."""
    library, api, _ = key
    name = f"{seed}:{library}:{api.rsplit('.', 1)[-1]}"
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % folds


def learned(data: Data, keys: Iterable[Key]) -> dict[str, RuleSet]:
    """Learn rules from the labelled sentences of these parameters, by library and shared."""
    samples: dict[str, list[AnnotatedSentence]] = defaultdict(list)
    for key in keys:
        samples[key[0]] += data.samples.get(key, [])
    return {rules.library: rules for rules in learn_all(samples)}


def predicted(
    rules: Mapping[str, RuleSet], texts: Iterable[ParameterText]
) -> dict[Key, dict[str, Any]]:
    """Return what the rules extract from these parameters."""
    shared = (*rules[SHARED].rules, *EXPLICIT_RULES)
    books = {library: RuleBook(rules[library], shared) for library in LIBRARIES}
    return {
        (text.library, text.api, text.parameter): prediction(
            text, extract(text, books[text.library])
        )
        for text in texts
    }


def chosen_margins(data: Data, keys: Collection[Key], seed: str) -> dict[str, float]:
    """Choose the margin of each category by cross-validation inside a training set."""
    outcomes: dict[float, dict[Key, Any]] = {margin: {} for margin in MARGINS}
    for fold in range(FOLDS - 1):
        inside = [key for key in keys if fold_of(key, f"inner-{seed}", FOLDS - 1) != fold]
        outside = [data.texts[key] for key in set(keys) - set(inside)]
        rules = learned(data, inside)
        for margin in MARGINS:
            margins = dict.fromkeys((name for of in CATEGORIES.values() for name in of), margin)
            changed = {library: with_margins(some, margins) for library, some in rules.items()}
            outcomes[margin] |= predicted(changed, outside)
    chosen = {
        category: max(MARGINS, key=lambda one: data.f1(outcomes[one], "total", category))
        for category in CATEGORIES
    }
    return {name: chosen[category] for category, names in CATEGORIES.items() for name in names}


def cross_validated(data: Data, seed: str, *, nested: bool) -> tuple[dict[Key, Any], int]:
    """Return a prediction for every parameter by rules that never saw its API, and how many."""
    predictions: dict[Key, Any] = {}
    count = 0
    for fold in range(FOLDS):
        inside = [key for key in data.texts if fold_of(key, seed) != fold]
        outside = [text for key, text in data.texts.items() if fold_of(key, seed) == fold]
        rules = learned(data, inside)
        if nested:
            margins = chosen_margins(data, inside, seed)
            rules = {library: with_margins(some, margins) for library, some in rules.items()}
        count += sum(len(some.rules) for some in rules.values())
        predictions |= predicted(rules, outside)
    return predictions, count // FOLDS


def show(data: Data, title: str, predictions: Mapping[Key, Any]) -> None:
    """Print precision / recall / F1 per library and category."""
    table, _, parameters = data.scorer.score(data.gold, predictions)
    names = ("all", *CATEGORIES)
    print(f"\n{title}\n{'':12}" + "".join(f"{name:>18}" for name in names))
    for library in (*LIBRARIES, "total"):
        cells = ["/".join(f"{x:.1f}" for x in data.scorer.prf(table[library, n])) for n in names]
        row = "".join(f"{cell:>18}" for cell in cells)
        print(f"{library:12}{row}   n={parameters[library]}, paper F1 {PUBLISHED[library]}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3, help="number of different splits")
    parser.add_argument(
        "--nested", action="store_true", help="choose the margins inside the training folds"
    )
    arguments = parser.parse_args()
    data = Data(arguments.folder)
    print("precision/recall/F1 in %")
    show(data, "DocTer's published constraints (learned from all of these labels)", data.published)
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for seed in range(arguments.seeds):
        start = time.perf_counter()
        predictions, count = cross_validated(data, str(seed), nested=arguments.nested)
        took = time.perf_counter() - start
        title = f"ciguard, {FOLDS} folds by API, split {seed}: {count:,} rules, {took:.0f} s"
        show(data, title, predictions)
        for library in (*LIBRARIES, "total"):
            for name in ("all", *CATEGORIES):
                scores[library, name].append(data.f1(predictions, library, name))
    print(f"\nF1 over {arguments.seeds} splits, least to most")
    for library in (*LIBRARIES, "total"):
        spans = (f"{min(s):.1f} to {max(s):.1f}" for (of, _), s in scores.items() if of == library)
        print(f"{library:12}" + "".join(f"{span:>18}" for span in spans))


if __name__ == "__main__":
    main()
