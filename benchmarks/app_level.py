"""Branch coverage of applications around cognitive services, beside random and fuzzed inputs.

Each function of the applications in seeds/apps whose sub-conditions answers decide, three ways with
the same number of inputs and the same simulated service: inputs made for its sub-conditions, those
made for things drawn at random, and noise. Beside them what stub responses reach alone, without any
input: goals per second. Last, which planted failures are reported, and what is reported of their
correct twins.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.levels.app.accuracy import AccuracyOptions, assess, settings_for
from ciguard.levels.app.accuracy.aims import aims_of, specs_of_outcomes
from ciguard.levels.app.accuracy.trials import Trials
from ciguard.levels.app.dead_conditions import dead_conditions, read_vocabulary
from ciguard.levels.app.exploration import explore
from ciguard.levels.app.exploration.function_caller import FunctionCaller, host_of, routines_of
from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.input_synthesis.inverse_chain import InputSources, inverse_of
from ciguard.levels.app.providers.description import MediaKind, RecognitionTask, media_kind
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.relations import relations_of
from ciguard.levels.app.virtualization.simulated import SimulationEngine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.levels.app.accuracy import Assessment
    from ciguard.levels.app.exploration import ExploredFunction
    from ciguard.levels.app.providers.description import Operation

SEEDS = Path(__file__).parents[1] / "seeds" / "apps"
PAPER = {"vision": (91, 75, 44), "language": (91, 85, 74), "speech": (91, 54, 25)}
"""Branch coverage of Keeper (of all kinds together), random real inputs and fuzzing, in %."""
KINDS = {MediaKind.IMAGE: "vision", MediaKind.TEXT: "language", MediaKind.SOUND: "speech"}
WAYS = ("made for it", "random", "fuzzed")


@dataclass
class Covered:
    """Outcomes of the sub-conditions of one function, in %."""

    name: str
    kind: str
    goals: int
    stub_responses: float
    goals_per_s: float
    seconds: float
    by_way: dict[str, float] = field(default_factory=dict)


def covered(folder: Path, count: int, seed: int) -> Iterator[Covered]:
    """Yield how far each function gets, by the way its inputs are made."""
    application = read_application(folder)
    found = [one for one in find_service_functions(application, known_providers()) if one.goals]
    routines = routines_of(application)
    with (
        tempfile.TemporaryDirectory() as scratch,
        host_of(application, found, sys.executable, inputs=Path(scratch)) as host,
    ):
        for explored in explore(application, found, python=sys.executable, budget_s=60.0):
            goals = list(explored.answers_by_outcome)
            if explored.problem or not goals:
                continue
            met, of = explored.outcome_counts()
            operations = [one.answer.operation for one in explored.function.calls]
            kind = media_kind(operations[0].task)
            began = time.monotonic()
            caller = FunctionCaller(host, explored.function, *routines[explored.function.name])
            shares = {}
            for way, make in zip(WAYS, (_made, _random, _fuzzed), strict=True):
                inputs = make(explored, operations, count, seed)
                known = {one.digest: one.wanted for one in inputs}
                engines = EngineChain((SimulationEngine(None, known, 0.1, seed),))
                routine = routines[explored.function.name][1]
                trials = Trials(caller, explored.function, routine, explored.form, engines)
                seen = {pair for one in inputs for pair in trials.run(one, Path(scratch)).outcomes}
                shares[way] = 100 * len(seen) / of
            yield Covered(
                explored.function.name,
                KINDS[kind],
                len(goals),
                100 * met / of,
                met / max(explored.seconds, 1e-3),
                explored.seconds + time.monotonic() - began,
                shares,
            )


def _made(
    explored: ExploredFunction, operations: Sequence[Operation], count: int, seed: int
) -> list[ServiceInput]:
    wanted = [one for aim in aims_of(explored) for one in aim.wanted]
    wanted += [InputSpec(one.task) for one in operations]
    wanted += specs_of_outcomes(explored)
    return _inputs(wanted, count, seed)


def _random(
    explored: ExploredFunction, operations: Sequence[Operation], count: int, seed: int
) -> list[ServiceInput]:
    """Return inputs of things that anybody may photograph, write or say."""
    del explored
    rng = random.Random(seed)
    labels = relations_of(None).labels
    made: list[ServiceInput] = []
    felt = _inputs([InputSpec(RecognitionTask.SENTIMENT)], 20, seed)
    for number in range(count):
        task = rng.choice(operations).task
        key = rng.choice(labels)
        wanted = InputSpec(
            task, rng.choice(felt).content.decode() if task is RecognitionTask.SPEECH else key
        )
        if task is RecognitionTask.SENTIMENT:
            wanted = InputSpec(task)
        elif task is RecognitionTask.CATEGORIES:
            wanted = InputSpec(task, rng.choice(["Sports", "Health", "Travel", "Science", "Pets"]))
        elif task is RecognitionTask.ENTITIES:
            wanted = InputSpec(task, kind=rng.choice(["PERSON", "LOCATION", "DATE", "OTHER"]))
        elif task is RecognitionTask.FACES:
            wanted = InputSpec(task, rng.choice(["joy", "face", "sorrow"]))
        made += _inputs([wanted], 1, seed * 1000 + number)
    return made


def _fuzzed(
    explored: ExploredFunction, operations: Sequence[Operation], count: int, seed: int
) -> list[ServiceInput]:
    """Return noise: images, sounds and texts of random content."""
    del explored
    rng = random.Random(seed)
    kinds = {media_kind(one.task): one.task for one in operations}
    made: list[ServiceInput] = []
    for number in range(count):
        kind = rng.choice(list(kinds))
        if kind is MediaKind.TEXT:
            text = "".join(chr(rng.randint(32, 382)) for _ in range(rng.randint(1, 200)))
            made.append(ServiceInput(InputSpec(kinds[kind]), text.encode(), "random characters"))
        else:
            made += _inputs([InputSpec(kinds[kind])], 1, seed * 1000 + number)
    return made


def _inputs(wanted: Sequence[InputSpec], count: int, seed: int) -> list[ServiceInput]:
    inverse = inverse_of(InputSources(is_simulated=True))
    served = [one for one in dict.fromkeys(wanted) if inverse.serves(one)]
    each = -(-count // max(1, len(served)))
    made = [one for want in served for one in inverse.inputs(want, each, seed=seed)]
    return made[:count]


def reports_of(folder: Path, labels: Path | None) -> list[tuple[int, str, str]]:
    """Return the reports on an application: line, kind as in faults.toml, and subject."""
    application = read_application(folder)
    found = find_service_functions(application, known_providers())
    vocabulary = read_vocabulary(labels) if labels is not None else None
    trying = AccuracyOptions(labels=labels, confusion_matrix=SEEDS / "service.toml", budget_s=60.0)
    explored = list(explore(application, found, python=sys.executable, budget_s=60.0))
    assessed = assess(application, found, explored, settings_for(trying), python=sys.executable)
    dead = (one for function in found for one in dead_conditions(function, vocabulary))
    lines = [
        *((one.branch.line, "dead", one.text) for one in dead),
        *(line for one in explored for line in _reports_by_responses(one)),
        *(line for one in assessed for line in _reports_by_inputs(one)),
    ]
    return list(dict.fromkeys(lines))


def _reports_by_responses(explored: ExploredFunction) -> Iterator[tuple[int, str, str]]:
    for crash in explored.crashes:
        yield crash.line, "crash", crash.error
    for name in explored.uncaught_refusals:
        yield explored.function.line, "crash", f"{name} let through"


def _reports_by_inputs(assessed: Assessment) -> Iterator[tuple[int, str, str]]:
    for verdict in assessed.verdicts:
        if verdict.is_failure:
            yield verdict.goal.branch.line, "accuracy", verdict.goal.text
    for crash, _ in assessed.crashes:
        yield crash.line, "crash", crash.error


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def main() -> int:
    """Print all of it; 1 if a planted failure is missed or a twin has any report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100, help="of each function and way")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--labels", type=Path, help="that the service can answer, for dead code")
    parser.add_argument(
        "--answers",
        action="store_true",
        help="stub responses alone, without inputs: two minutes",
    )
    given = parser.parse_args()
    if given.answers:
        return _answered()

    rows = [
        row
        for folder in (SEEDS, SEEDS / "fixed")
        for row in _rows(folder, given.inputs, given.seed)
    ]
    print(f"{'function':44} {'goals':>5} {'answers':>8} " + " ".join(f"{w:>12}" for w in WAYS))
    for row in rows:
        ways = " ".join(f"{row.by_way[way]:>11.0f}%" for way in WAYS)
        print(f"{row.name:44} {row.goals:>5} {row.stub_responses:>7.0f}% {ways}")
    for kind, paper in PAPER.items():
        own = [row for row in rows if row.kind == kind]
        shares = ", ".join(f"{w} {_mean([r.by_way[w] for r in own]):.0f} %" for w in WAYS)
        print(
            f"{kind}: stub responses {_mean([r.stub_responses for r in own]):.0f} %, {shares} "
            f"(paper: {paper[0]}, {paper[1]}, {paper[2]} %), {len(own)} functions"
        )
    print(
        f"stub responses alone: {_mean([r.stub_responses for r in rows]):.1f} % of outcomes, "
        f"{_mean([r.goals_per_s for r in rows]):.0f} outcomes per second; "
        f"{_mean([r.seconds for r in rows]):.1f} s per function with all inputs (paper: 60 to 120)"
    )
    return _planted(given.labels)


def _answered() -> int:
    """Print what stub responses reach, and how many of them were searched for."""
    rows = []
    for file in [*sorted(SEEDS.glob("*.py")), *sorted((SEEDS / "fixed").glob("*.py"))]:
        application = read_application(file)
        found = [one for one in find_service_functions(application, known_providers()) if one.goals]
        for one in explore(application, found, python=sys.executable, budget_s=60.0):
            if not one.problem and one.answers_by_outcome:
                rows.append((*one.outcome_counts(), one.random_runs, one.seconds))
                met, of, searched, seconds = rows[-1]
                name = one.function.name
                print(
                    f"{name:44} {met:>3} of {of:>3}, {searched:>2} searched for, {seconds:5.1f} s"
                )
    met, of, searched, seconds = (sum(column) for column in zip(*rows, strict=True))
    print(
        f"{len(rows)} functions: {met} of {of} outcomes, {searched} answers searched for, "
        f"{seconds / len(rows):.1f} s per function"
    )
    return 0


def _rows(folder: Path, count: int, seed: int) -> Iterator[Covered]:
    # One application after the other, as users have them.
    for file in sorted(folder.glob("*.py")):
        yield from covered(file, count, seed)


def _planted(labels: Path | None) -> int:
    faults: list[dict[str, Any]] = tomllib.loads((SEEDS / "faults.toml").read_text())["fault"]
    found = 0
    for fault in faults:
        lines = reports_of(SEEDS / f"{fault['application']}.py", labels)
        is_reported = fault["shows"] in {kind for _, kind, _ in lines}
        found += is_reported
        shown = "; ".join(f"{line} {kind} {what}" for line, kind, what in lines)
        print(
            f"{'found ' if is_reported else 'MISSED'} {fault['application']:16} "
            f"{fault['class']:20} planted in line {fault['line']}, reported: {shown[:100]}"
        )
    twins = {file.stem: reports_of(file, labels) for file in sorted((SEEDS / "fixed").glob("*.py"))}
    wrong = {name: lines for name, lines in twins.items() if lines}
    print(f"planted: {found} of {len(faults)} reported")
    print(f"twins: {len(wrong)} of {len(twins)} with any report: {wrong or 'none'}")
    return int(found < len(faults) or bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
