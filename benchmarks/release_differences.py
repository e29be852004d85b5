"""Recall between two releases: what plain calls on both show to differ, and what a run reports.

    python benchmarks/release_differences.py list FILE [--base torch==2.13.0]
                                                       [--head torch==2.12.0] [--calls 20]
    python benchmarks/release_differences.py score FILE RUN_FOLDER...

`list` makes the same calls of each API on both releases: conforming ones by the documentation
alone, and plain random ones. It compares outcomes plainly, without the oracles. A difference counts
if three fresh workers of each release show it, with other seeds and memory, and after other calls,
and if each release agrees with itself. `score` prints which of them the findings of runs (`ciguard
run --base … --target … --out RUN_FOLDER`) show: those that a confirmed bucket of the same API and
kind is about. Differences that are equal but for the spelling of an API (`torch.add`,
`torch.Tensor.add_`) are one family.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from documented import DocumentedLevel
from one_target import stream_of
from unguided import UnguidedLevel

from ciguard.campaign.catalogue import catalogue
from ciguard.campaign.group import groups_of
from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.outcomes import Crashed, Errored, Hung, Passed, Rejected, Stage
from ciguard.execution import (
    Container,
    Dispatcher,
    Job,
    Priority,
    Scalar,
    TensorDigest,
    TensorOutput,
    decode_outputs,
)
from ciguard.levels import select
from ciguard.oracles.relations import encode
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord
    from ciguard.execution import Output

FILLS = (0x25, 0xAA, 0)
"""Bytes that fill new memory in the repetitions of a call."""
TOGETHER = 16
LOSING = ("crash", "hang")
"""Kinds of differences in which a call loses its worker, so that it has one of its own."""
PER_KIND = 3
"""Calls of one API and kind of difference that are repeated."""
RTOL = {"float64": 1e-6, "complex128": 1e-6, "float32": 1e-3, "complex64": 1e-3}
COARSE_RTOL = 0.1
SMALLEST = 1e-30
"""Magnitude below which a result may be flushed to zero."""
HARD = {Crashed: "crash", Hung: "hang", Errored: "internal-error"}
REGRESSIONS = {"refused", "dtype", "shape", "structure", "values", "nan"}
"""Kinds of differences that are regressions of the head, besides crashes, errors and hangs."""
KINDS_OF_BUCKETS = {"crash": "crash", "hang": "hang", "internal-error": "internal-error"}


@dataclass(frozen=True)
class Difference:
    """How the outcomes of one call differ."""

    api: str
    kind: str
    text: str
    case: Case

    @property
    def family(self) -> tuple[str, str]:
        """Return the last part of the API's name without underscores, and the kind."""
        return self.api.rpartition(".")[2].strip("_"), self.kind


def kind_of_difference(base: Outcome, head: Outcome) -> str:
    """Return how two outcomes differ; empty if they do not, or are not comparable."""
    for kind, word in HARD.items():
        if isinstance(base, kind) or isinstance(head, kind):
            return "" if type(base) is type(head) else f"{word} on {_side(base, kind)}"
    match base, head:
        case Passed(one), Passed(other):
            left, right = decode_outputs(one), decode_outputs(other)
            return "" if one == other or not left or not right else result_difference(left, right)
        case Passed(), Rejected(stage=Stage.CALL):
            return "refused"
        case Rejected(stage=Stage.CALL), Passed():
            return "accepted"
        case Rejected(exception=one, stage=Stage.CALL), Rejected(exception=other, stage=Stage.CALL):
            return "" if one == other else "exception"
        case _:
            return ""


def _side(base: Outcome, kind: type) -> str:
    return "base" if isinstance(base, kind) else "head"


def result_difference(base: Output, head: Output) -> str:
    """Return the property in which two results differ first; empty if they agree."""
    match base, head:
        case Container(), Container():
            if base.length != head.length or base.keys != head.keys:
                return "structure"
            pairs = zip(base.items, head.items, strict=False)
            return next(filter(None, (result_difference(*pair) for pair in pairs)), "")
        case Scalar(), Scalar():
            return "" if base.kind == head.kind or base.kind in "sb" else "structure"
        case ((TensorOutput() | TensorDigest()), (TensorOutput() | TensorDigest())):
            return _tensor_difference(base, head)
        case _:
            return "" if type(base) is type(head) else "structure"


def _tensor_difference(base: Any, head: Any) -> str:
    for name in ("dtype", "shape"):
        if getattr(base, name) != getattr(head, name):
            return name
    one, other = (_elements(side) for side in (base, head))
    if one.shape != other.shape:
        return ""
    if one.dtype.kind not in "fc":
        return "" if np.array_equal(one, other) else "values"
    if (np.isnan(one) != np.isnan(other)).any():
        return "nan"
    rtol = RTOL.get(base.dtype, COARSE_RTOL)
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    one, other = np.nan_to_num(one.astype(wide)), np.nan_to_num(other.astype(wide))
    scale = float(max(np.abs(one).max(initial=0), np.abs(other).max(initial=0)))
    return (
        ""
        if np.allclose(one, other, rtol=rtol, atol=rtol * min(max(scale, SMALLEST), 1e300))
        else "values"
    )


def _elements(side: TensorOutput | TensorDigest) -> Any:
    return side.elements if isinstance(side, TensorOutput) else side.sample


class Pair:
    """A base and a head, which run the same calls."""

    def __init__(self, base: str, head: str, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        environments = {
            text: provision(parse_target(text), on_step=lambda _: None) for text in (base, head)
        }
        self.names = tuple(environments)
        dispatcher.start([worker_spec(n, e, Config()) for n, e in environments.items()])
        (self.group,) = groups_of(environments).values()
        for name, environment in environments.items():
            records = catalogue(name, environment, dispatcher).known.records
            self.group.members[name].catalogue = records
        first, second = (self.group.members[name].catalogue for name in self.names)
        self.apis = [record for api, record in select_known(first).items() if api in second]

    def differing(self, seed: int, calls: int) -> Iterator[Difference]:
        """Yield the differences of single runs of all calls."""
        for kind in (DocumentedLevel, UnguidedLevel):
            level = kind(self.apis, seed, cases_per_batch=calls)
            yield from self._run(level)

    def _run(self, level: DocumentedLevel | UnguidedLevel) -> Iterator[Difference]:
        stream = stream_of(level, self.group, apis=len(self.apis))
        stream.batches.last = len(self.apis)
        while not stream.is_exhausted:
            stream.fill(self._dispatcher)
            batches = list(stream.completed())
            for result in self._dispatcher.wait(1.0):
                batches += stream.take(result)
            for executed in batches:
                columns = [executed.outcomes.get(name, ()) for name in self.names]
                for case, base, head in zip(executed.cases, *columns, strict=False):
                    if kind := kind_of_difference(base, head):
                        yield Difference(executed.api, kind, in_words(base, head), case)

    def steady(self, differences: Sequence[Difference]) -> Iterator[Difference]:
        """Yield the differences that show again each time, and not within a release."""
        for repetition, fill in enumerate(FILLS):
            for numbers in together(differences, random.Random(repetition)):
                cases = [replace(differences[one].case, seed=repetition) for one in numbers]
                for name in self.names:
                    key = ("again", repetition, numbers)
                    job = Job(name, key, tuple(map(encode, cases)), fresh=True, perturb=fill)
                    self._dispatcher.add(job, Priority.NORMAL)
        outcomes: dict[tuple[int, str], dict[int, Outcome]] = defaultdict(dict)
        while not self._dispatcher.is_idle:
            for result in self._dispatcher.wait(1.0):
                _, repetition, numbers = cast("tuple[str, int, tuple[int, ...]]", result.job.key)
                for number, outcome in zip(numbers, result.outcomes, strict=False):
                    outcomes[number, result.job.target][repetition] = outcome
        for number, difference in enumerate(differences):
            base, head = (outcomes[number, name] for name in self.names)
            if len(base) == len(head) == len(FILLS) and is_steady(difference.kind, base, head):
                yield difference


def together(differences: Sequence[Difference], rng: random.Random) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of differences whose calls share a worker, in a random order."""
    alone = [n for n, one in enumerate(differences) if one.kind.startswith(LOSING)]
    others = [n for n, one in enumerate(differences) if not one.kind.startswith(LOSING)]
    rng.shuffle(others)
    yield from ((number,) for number in alone)
    yield from (
        tuple(others[start : start + TOGETHER]) for start in range(0, len(others), TOGETHER)
    )


def is_steady(kind: str, base: Mapping[int, Outcome], head: Mapping[int, Outcome]) -> bool:
    """Return whether a kind of difference shows between all runs, and none within a release."""
    within = {kind_of_difference(side[0], one) for side in (base, head) for one in side.values()}
    return within == {""} and {kind_of_difference(base[n], head[n]) for n in base} == {kind}


def select_known(records: Any) -> dict[str, ApiRecord]:
    """Return the records of the APIs that a run tests."""
    return {record.api: record for record in select(records.values())}


def in_words(*outcomes: Outcome) -> str:
    """Return outcomes as a short text."""
    return " vs ".join(_word(outcome) for outcome in outcomes)


def _word(outcome: Outcome) -> str:
    match outcome:
        case Rejected(exception, message) | Errored(exception, message):
            return f"{exception}: {' '.join(message.split())}"[:160]
        case Crashed(cause):
            return cause
        case Passed(encoded):
            return str(decode_outputs(encoded))[:120].replace("\n", " ")
        case _:
            return type(outcome).__name__


def write_list(options: argparse.Namespace) -> int:
    """List the differences of two releases."""
    with Dispatcher() as dispatcher:
        pair = Pair(options.base, options.head, dispatcher)
        met: dict[tuple[str, str], list[Difference]] = defaultdict(list)
        for one in pair.differing(options.seed, options.calls):
            met[one.api, one.kind].append(one)
        chosen = [one for alike in met.values() for one in alike[:PER_KIND]]
        steady = {(one.api, one.kind): one for one in pair.steady(chosen)}
    lines = [
        {"api": d.api, "kind": d.kind, "text": d.text, "case": encode(d.case).decode()}
        for d in steady.values()
    ]
    options.file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    counts = Counter(one.kind for one in steady.values())
    print(f"{options.base} → {options.head}: {len(pair.apis)} APIs, {len(met)} differ, {counts}")
    return 0


def kind_of_bucket(bucket: dict[str, Any]) -> str:
    """Return the kind of difference that a bucket is about, as a list names it."""
    return KINDS_OF_BUCKETS.get(bucket["oracle"], str(bucket["kind"]))


def score(options: argparse.Namespace) -> int:
    """Print which differences runs report."""
    listed = [json.loads(line) for line in options.file.read_text("utf-8").splitlines()]
    wanted = {(one["api"], one["kind"].partition(" ")[0]): one for one in listed}
    met: set[tuple[str, str]] = set()
    for folder in options.runs:
        for line in (folder / "buckets.jsonl").read_text("utf-8").splitlines():
            bucket = json.loads(line)
            if bucket["confirmed"]:
                met |= {(api, kind_of_bucket(bucket)) for api in bucket_apis(bucket)}
    by_kind: dict[str, list[bool]] = defaultdict(list)
    families: dict[tuple[str, str], bool] = defaultdict(bool)
    for (api, kind), one in wanted.items():
        is_met = (api, kind) in met
        by_kind[one["kind"]].append(is_met)
        families[api.rpartition(".")[2].strip("_"), kind] |= is_met
        if not is_met:
            print(f"missed {one['kind']:20} {api}: {one['text']}")
    for kind, results in sorted(by_kind.items()):
        print(f"{kind:24} {sum(results):4} of {len(results):4}")
    regressed = [met for kind, results in by_kind.items() if is_regression(kind) for met in results]
    print(f"regressions {sum(regressed)} of {len(regressed)}")
    print(f"families {sum(families.values())} of {len(families)}")
    return 0


def is_regression(kind: str) -> bool:
    """Return whether a kind of difference is a regression of the head."""
    return kind in REGRESSIONS or kind.endswith("on head")


def bucket_apis(bucket: dict[str, Any]) -> list[str]:
    """Return the APIs that a bucket is about."""
    return [bucket["api"], *bucket.get("other_apis", ())]


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    listing = commands.add_parser("list", help="list the differences of two releases")
    listing.add_argument("file", type=Path)
    listing.add_argument("--base", default="torch==2.13.0")
    listing.add_argument("--head", default="torch==2.12.0")
    listing.add_argument("--calls", type=int, default=20, help="calls of each kind and API")
    listing.add_argument("--seed", type=int, default=2026)
    listing.set_defaults(command=write_list)
    scoring = commands.add_parser("score", help="print which of them runs report")
    scoring.add_argument("file", type=Path)
    scoring.add_argument("runs", type=Path, nargs="+")
    scoring.set_defaults(command=score)
    options = parser.parse_args()
    status: int = options.command(options)
    return status


if __name__ == "__main__":
    sys.exit(main())
