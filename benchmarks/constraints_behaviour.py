"""Constraints against behaviour: do they predict which random calls a library accepts?

    python benchmarks/constraints_behaviour.py [--target torch==2.13.0 …] [--apis 200]
                                               [--cases 1000] [--learn 320] [--seed S] [--wrong N]
                                               [--part development|held-out]

Takes APIs with arguments for which no hand-written rule of a family applies, and calls each with
random arguments of which nothing is known (`unguided.py`). A call is predicted to pass if nothing
excludes it (`admission.py`) that is stated by the signature and the documentation (`documented`),
or by the outcomes of other, guided calls (`learned`): these refine the constraints, and a call is
predicted to be refused if it has a trait with which none of them passed, although some would have.
`--part` draws the APIs from one half of them, by a digest of their names: only `development` is
for reading wrong predictions.
Calls that crash, hang or exhaust the memory do not count. Precision and recall are those of each
prediction over all calls; `mean` is that of the APIs.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from admission import Admission, stated
from evidence import Evidence
from one_target import OneTarget, stream_of
from unguided import UnguidedLevel
from validity import mean, sampled

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.execution import Dispatcher
from ciguard.knowledge import refined, understand
from ciguard.knowledge.clues import ClueSource
from ciguard.levels import select
from ciguard.levels.api.calls import CallGenerator
from ciguard.levels.api.level import ApiLevel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge import Api

TARGETS = ("torch==2.13.0", "tensorflow-cpu==2.21.0", "keras==3.15.1[jax]")
PER_BATCH = 20
MESSAGE_WIDTH = 110
SAMPLES = 400
"""Number of samples of the APIs, with replacement, whose figures show what is luck."""


@dataclass
class Predictions:
    """Calls of one API by prediction and outcome."""

    counts: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    """Number of calls by whether they were predicted to pass, and whether they passed."""
    wrong: Counter[str] = field(default_factory=Counter)
    """Reasons of wrong predictions."""

    def precision(self, *, accepts: bool) -> float:
        """Return the share of right predictions among those that a call passes, or does not."""
        return _share(self.counts[accepts, accepts], self.counts[accepts, not accepts])

    def recall(self, *, accepts: bool) -> float:
        """Return the share of calls that passed, or did not, for which this was predicted."""
        return _share(self.counts[accepts, accepts], self.counts[not accepts, accepts])


def _share(right: int, wrong: int) -> float:
    return right / (right + wrong) if right + wrong else 1.0


def has_family_rule(api: Api) -> bool:
    """Return whether a hand-written rule for a family of APIs states one of the constraints."""
    return any(
        evidence.source is ClueSource.FAMILY
        for parameter in api.parameters
        for evidence in parameter.evidence
    )


def learned(target: OneTarget, apis: Sequence[Api], options: argparse.Namespace) -> list[Admission]:
    """Return the predictions for APIs by what the outcomes of guided calls teach about them."""
    level = ApiLevel([api.record for api in apis], options.seed, sizes=(PER_BATCH,))
    stream = stream_of(level, target.group(), apis=len(apis))
    generators = {api.record.api: CallGenerator(understand(api.record)) for api in apis}
    evidence = {name: Evidence() for name in generators}
    for executed in target.run_stream(stream, options.learn // PER_BATCH * len(apis)):
        generator = generators[executed.api]
        for case, outcome in zip(executed.cases, executed.outcomes[target.name], strict=True):
            if isinstance(case, ApiCall):
                values = generator.arguments(case)
                evidence[executed.api].note(case, values, generator.names, outcome)
    experience = stream.learned()
    return [
        Admission(refined(api, experience[name]), experience[name], evidence[name])
        if (name := api.record.api) in experience
        else Admission(api)
        for api in apis
    ]


def measure(
    target: OneTarget, known: Mapping[str, Sequence[Admission]], options: argparse.Namespace
) -> dict[str, list[Predictions]]:
    """Return the predictions for each API, by what is known of the APIs."""
    records = [admission.record for admission in next(iter(known.values()))]
    by_source = {
        source: {admission.record.api: (admission, Predictions()) for admission in admissions}
        for source, admissions in known.items()
    }
    level = UnguidedLevel(records, options.seed, cases_per_batch=PER_BATCH)
    batches = options.cases // PER_BATCH * len(records)
    for executed in target.run(level, batches, apis=len(records)):
        for case, outcome in zip(executed.cases, executed.outcomes[target.name], strict=True):
            if isinstance(case, ApiCall) and isinstance(outcome, Passed | Rejected):
                for by_api in by_source.values():
                    admission, predictions = by_api[executed.api]
                    note(predictions, admission.refusal(case), outcome)
    return {
        source: [predictions for _, predictions in by_api.values()]
        for source, by_api in by_source.items()
    }


def note(predictions: Predictions, reason: str, outcome: Passed | Rejected) -> None:
    """Count one call."""
    has_passed = isinstance(outcome, Passed)
    predictions.counts[not reason, has_passed] += 1
    if has_passed and reason:
        predictions.wrong[f"passed although {reason}"[:MESSAGE_WIDTH]] += 1
    elif isinstance(outcome, Rejected) and not reason:
        words = " ".join(outcome.message.split())
        predictions.wrong[f"refused: {words}"[:MESSAGE_WIDTH]] += 1


def show(name: str, predictions: Sequence[Predictions], wrong: int) -> None:
    """Print the figures of one library."""
    total = Predictions()
    for one in predictions:
        total.counts.update(one.counts)
        total.wrong.update(one.wrong)
    calls = total.counts.total()
    passed = total.counts[True, True] + total.counts[False, True]
    print(f"\n{name}: {len(predictions)} APIs, {calls:,} calls, {passed / max(1, calls):.1%} pass")
    for label, side in (("accepted", True), ("refused", False)):
        precision = mean(one.precision(accepts=side) for one in predictions)
        recall = mean(one.recall(accepts=side) for one in predictions)
        print(
            f"  {label}: precision {total.precision(accepts=side):6.1%} (mean {precision:6.1%}), "
            f"recall {total.recall(accepts=side):6.1%} (mean {recall:6.1%}); "
            f"95 % of samples: {_interval(predictions, accepts=side)}"
        )
    for reason, count in total.wrong.most_common(wrong):
        print(f"    {count:6,} {reason}")


def _interval(predictions: Sequence[Predictions], *, accepts: bool) -> str:
    """Return the ranges of precision and recall in 95 % of the samples drawn of the APIs."""
    rng = random.Random(0)
    precisions, recalls = [], []
    for _ in range(SAMPLES):
        total = Predictions()
        for one in rng.choices(predictions, k=len(predictions)):
            total.counts.update(one.counts)
        precisions.append(total.precision(accepts=accepts))
        recalls.append(total.recall(accepts=accepts))
    return ", ".join(
        f"{low:.0%} to {high:.0%}" for low, high in map(_middle, (precisions, recalls))
    )


def _middle(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    cut = len(ordered) // 40
    return ordered[cut], ordered[-1 - cut]


def apis_of(target: OneTarget, options: argparse.Namespace) -> list[Api]:
    """Return a sample of the APIs with arguments that no rule of a family is about."""
    records: Sequence[ApiRecord] = select(list(target.records.values()), ("*",))
    known = [understand(record) for record in records if record.parameters or record.inputs]
    fitting = {api.record.api: api for api in known if not has_family_rule(api)}
    of_part = [api.record for api in fitting.values() if _is_in(options.part, api.record.api)]
    return [fitting[record.api] for record in sampled(of_part, options.apis, options.seed)]


def _is_in(part: str, api: str) -> bool:
    is_even = sha256(api.encode()).digest()[-1] % 2 == 0
    return not part or (part == "development") is is_even


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", dest="targets", action="append", default=[])
    parser.add_argument("--apis", type=int, default=200, help="number of APIs per library")
    parser.add_argument("--cases", type=int, default=1000, help="number of calls per API")
    parser.add_argument("--learn", type=int, default=320, help="guided calls per API; 0 for none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=("development", "held-out"), default="")
    parser.add_argument("--wrong", type=int, default=0, help="print so many reasons of errors")
    options = parser.parse_args()
    for text in options.targets or TARGETS:
        with Dispatcher() as dispatcher:
            target = OneTarget(text, dispatcher)
            documented = list(map(stated, apis_of(target, options)))
            known = {"documented": list(map(Admission, documented))}
            if options.learn:
                known["learned"] = learned(target, documented, options)
            for source, predictions in measure(target, known, options).items():
                show(f"{target.name}, {source}", predictions, options.wrong)
    return 0


if __name__ == "__main__":
    sys.exit(main())
