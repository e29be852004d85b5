"""What each part of level `app` earns: findings and outcomes with it and without it.

All functions in which answers decide something, of the applications in a folder, are explored and
tried on inputs, with the same seed: once with all parts, once without each. Outcomes are those of
sub-conditions; findings are exceptions and hangs that answers or inputs bring about, sub-conditions
that nothing can turn, and accuracy failures. A line for each run is added to
`benchmarks/results/app-parts.jsonl`.

Public applications are not in this repository: `--applications` takes a folder in which each file
or folder is one. Samples that source distributions ship are a start:
`pip download --no-deps --no-binary :all: azure-ai-textanalytics azure-ai-vision-imageanalysis`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from ciguard.errors import CiguardError
from ciguard.levels.app.accuracy import AccuracyOptions, assess, settings_for
from ciguard.levels.app.dead_conditions import (
    contradictory_conditions,
    dead_conditions,
    read_vocabulary,
)
from ciguard.levels.app.exploration import explore
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ciguard.levels.app.exploration import ExploredFunction
    from ciguard.levels.app.static_analysis import Application, ServiceFunction

RESULTS = Path(__file__).parent / "results" / "app-parts.jsonl"
PACKAGE = "ciguard.levels.app"


def _false(*_: Any, **__: Any) -> bool:
    return False


def _none(*_: Any, **__: Any) -> None:
    return None


EXPLORING: Mapping[str, Mapping[str, object]] = {
    "exploration/searching": {f"{PACKAGE}.exploration.explore._MAX_SEARCH_S": 0.0},
}
"""Part that stub responses come from → what is put in the place of what."""
OF_PARTS: Mapping[str, Sequence[str]] = {
    "exploration/searching": (
        "exploration/search",
        "exploration/hints",
        "exploration/random_answers",
    ),
    "input_synthesis/printing": (
        "input_synthesis/printed_text",
        "input_synthesis/text_pictures",
        "input_synthesis/fonts",
    ),
    "input_synthesis/speaking": ("input_synthesis/speech",),
    "input_synthesis/felt": ("input_synthesis/sentiment_texts",),
    "input_synthesis/naming": ("input_synthesis/named_entities",),
    "input_synthesis/drawing": ("input_synthesis/drawn_images", "input_synthesis/pictures"),
}
"""Part → its modules, if they are not named like the part."""
TRYING: Mapping[str, Mapping[str, Callable[..., object]]] = {
    "input_synthesis": {f"{PACKAGE}.input_synthesis.inverse_chain.InverseChain.serves": _false},
    "input_synthesis/printing": {
        f"{PACKAGE}.input_synthesis.printed_text.PrintedText.serves": _false
    },
    "input_synthesis/speaking": {f"{PACKAGE}.input_synthesis.speech.SpokenText.serves": _false},
    "input_synthesis/felt": {
        f"{PACKAGE}.input_synthesis.sentiment_texts.SentimentTexts.serves": _false
    },
    "input_synthesis/naming": {
        f"{PACKAGE}.input_synthesis.named_entities.NamedEntities.serves": _false
    },
    "input_synthesis/documents": {
        f"{PACKAGE}.input_synthesis.documents.DocumentWriter.serves": _false
    },
    "input_synthesis/drawing": {
        f"{PACKAGE}.input_synthesis.inverse_chain.DrawnInputs.serves": _false
    },
    "repair/labels": {f"{PACKAGE}.accuracy.verdicts.extend_labels": _none},
    "repair/thresholds": {f"{PACKAGE}.accuracy.verdicts.fit_threshold": _none},
    "repair/relatedness": {f"{PACKAGE}.repair.relatedness.CombinedRelatedness.related": _false},
}
"""Part that inputs, or what is made of them, come from → likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came of all applications."""

    without: str
    functions: int
    """That were called to the end."""
    outcomes: int
    """That answers or inputs brought about."""
    of: int
    by_inputs_only: int
    failures: int
    """Exceptions and hangs."""
    judged: int
    """Sub-conditions whose accuracy was measured."""
    accuracy: int
    """Those among them that fail."""
    always_same: int
    """Sub-conditions."""
    contradictions: int
    suggestions: int
    patches: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Read:
    """An application."""

    application: Application
    found: tuple[ServiceFunction, ...]


def read(folder: Path) -> Iterator[Read]:
    """Yield the applications in a folder, with the functions in which answers decide something."""
    for path in sorted(folder.iterdir()):
        try:
            application = read_application(path)
        except CiguardError as error:
            print(f"passed over: {error}", file=sys.stderr)
            continue
        found = tuple(
            one for one in find_service_functions(application, known_providers()) if one.goals
        )
        if found:
            yield Read(application, found)


def explored(several: Sequence[Read], python: str, seconds: float) -> list[list[ExploredFunction]]:
    """Call all functions with stub responses."""
    return [
        list(explore(one.application, one.found, python=python, budget_s=seconds))
        for one in several
    ]


def figures(
    without: str,
    several: Sequence[Read],
    results: Sequence[list[ExploredFunction]],
    given: argparse.Namespace,
) -> Figures:
    """Try functions on inputs, and count what all of it came to."""
    began = time.monotonic()
    trying = AccuracyOptions(
        inputs=given.inputs, seed=given.seed, budget_s=given.seconds, labels=given.labels
    )
    settings = settings_for(trying)
    vocabulary = read_vocabulary(given.labels) if given.labels else None
    met, by_answers, failures, judged, accuracy, suggestions, patches = set(), set(), 0, 0, 0, 0, 0
    of, functions, dead, contradictions = set(), 0, set(), set()
    for one, calls in zip(several, results, strict=True):
        for function in one.found:
            dead |= set(dead_conditions(function, vocabulary))
            contradictions |= set(contradictory_conditions(one.application, function))
        for call in calls:
            functions += not call.problem
            failures += len(call.crashes) + len(call.hangs) + len(call.uncaught_refusals)
            root = one.application.root
            of |= {
                (root, goal, value) for goal in call.answers_by_outcome for value in (True, False)
            }
            by_answers |= {
                (root, goal, value)
                for goal in call.answers_by_outcome
                for value in call.answers_by_outcome[goal]
            }
        for tried in assess(one.application, one.found, calls, settings, python=given.python):
            failures += len(tried.crashes)
            met |= {(one.application.root, goal, value) for goal, value in tried.reached_outcomes}
            judged += len(tried.verdicts)
            failed = [verdict for verdict in tried.verdicts if verdict.is_failure]
            made = [verdict.suggestion for verdict in failed if verdict.suggestion is not None]
            accuracy += len(failed)
            suggestions += len(made)
            patches += sum(bool(one.patch) for one in made)
    return Figures(
        without=without,
        functions=functions,
        outcomes=len(met | by_answers),
        of=len(of),
        by_inputs_only=len(met - by_answers),
        failures=failures,
        judged=judged,
        accuracy=accuracy,
        always_same=len(dead),
        contradictions=len(contradictions),
        suggestions=suggestions,
        patches=patches,
        seconds=round(
            sum(call.seconds for calls in results for call in calls) + time.monotonic() - began, 1
        ),
    )


def lines_of(part: str) -> int:
    """Return how many lines a part has."""
    folder = Path(__file__).parents[1] / "ciguard" / "levels" / "app"
    several = OF_PARTS.get(part, (part,))
    files = [file for one in several for file in folder.glob(f"{one}/*.py")]
    files += [file for one in several if (file := (folder / one).with_suffix(".py")).is_file()]
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


def measured(several: Sequence[Read], given: argparse.Namespace) -> Iterator[Figures]:
    """Yield figures with all parts, then without each."""
    whole = explored(several, given.python, given.seconds)
    yield figures("", several, whole, given)
    for part, instead in EXPLORING.items():
        if given.part and part not in given.part:
            continue
        with _patched(instead):
            yield figures(part, several, explored(several, given.python, given.seconds), given)
    for part, instead in TRYING.items():
        if given.part and part not in given.part:
            continue
        with _patched(instead):
            yield figures(part, several, whole, given)


def _patched(instead: Mapping[str, object]) -> ExitStack:
    stack = ExitStack()
    for place, what in instead.items():
        stack.enter_context(patch(place, what))
    return stack


def main() -> int:
    """Print a table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--applications", type=Path, required=True)
    parser.add_argument("--name", required=True, help="of the applications, for the results")
    parser.add_argument("--python", default=sys.executable, help="that has what they import")
    parser.add_argument("--labels", type=Path, help="that services answer")
    parser.add_argument("--inputs", type=int, default=40, help="of each function")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each function and way")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", action="append", help="to leave out; all, one by one, if none")
    given = parser.parse_args()
    several = list(read(given.applications))
    columns = [one for one in Figures.__slots__ if one != "without"]
    print(f"{'without':24} {'lines':>5} " + " ".join(f"{one[:9]:>9}" for one in columns))
    for row in measured(several, given):
        values = asdict(row)
        lines = lines_of(row.without) if row.without else 0
        print(
            f"{row.without or 'nothing':24} {lines:>5} "
            + " ".join(f"{values[c]:>9}" for c in columns)
        )
        values["without"] = row.without or "nothing"
        kept = {"applications": given.name, "seed": given.seed, "lines": lines, **values}
        with RESULTS.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(kept) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
