"""A level of another project: numbers that lie a step away from a round one."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ciguard.campaign import LevelDefaults
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import CaseKind, as_kind
from ciguard.domain.intent import Intent
from ciguard.domain.values import LiteralValue
from ciguard.levels import Batch, select
from ciguard.triage import PresentationDefaults
from ciguard.triage.scripting import assemble_script, header, source_of
from ciguard_planted.settings import LARGEST

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from ciguard.campaign import Stream, StreamFactory
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.domain.values import Json
    from ciguard.triage import EnvironmentHint

TAG = "step"
APIS = ("planted.fragile", "planted.checked")
_ROUND = (0, 10, 100, 1000)
_CASES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCase:
    """A call with a round number and a step."""

    api: str
    start: int
    step: int
    seed: int = 0

    level: ClassVar[str] = "steps"
    noun: ClassVar[str] = "step"
    given: ClassVar[str] = "arguments"
    relation: ClassVar[str] = ""
    focus: ClassVar[str] = ""
    intent: ClassVar[Intent] = Intent.CONFORMING
    place: ClassVar[tuple[str, int]] = ("", 0)
    is_api_use: ClassVar[bool] = True
    is_user_code: ClassVar[bool] = False
    is_run_by_worker: ClassVar[bool] = True
    has_verdict_alone: ClassVar[bool] = False

    @property
    def apis(self) -> tuple[str, ...]:
        """The API that is called."""
        return (self.api,)

    @property
    def values(self) -> tuple[LiteralValue, ...]:
        """Start and step: neither of them alone is what the API is given."""
        return (LiteralValue(self.start), LiteralValue(self.step))

    def lowered(self) -> ApiCall:
        """Return the call, which workers know how to make."""
        number = LiteralValue(self.start + self.step)
        return ApiCall(api=self.api, kind=CallKind.FUNCTION, arguments=(number,), seed=self.seed)

    def to_json(self) -> Json:
        """Return the JSON form of the case."""
        return [self.api, TAG, [self.start, self.step, self.seed]]


def _read(encoded: Json) -> StepCase:
    api, _, (start, step, seed) = encoded
    return StepCase(api=str(api), start=int(start), step=int(step), seed=int(seed))


KIND = CaseKind(read=_read)


def starts_up_to(largest: int) -> list[int]:
    """Return the numbers that cases begin at."""
    return [start for start in _ROUND if start <= largest]


class Steps:
    """Makes the cases: an API in turn, from the seed and the index."""

    def __init__(self, apis: Sequence[str], seed: int, *, largest: int) -> None:
        self._apis = apis
        self._seed = seed
        self._starts = starts_up_to(largest)

    def cases(self, index: int) -> Batch:
        """Return the batch of that index."""
        api = self._apis[index % len(self._apis)]
        rng = random.Random(f"{self._seed} {index}")
        cases = [
            StepCase(api=api, start=rng.choice(self._starts), step=rng.randint(-3, 7))
            for _ in range(_CASES)
        ]
        return Batch(api=api, kind=CallKind.FUNCTION, cases=tuple(cases))


class StepLevel(LevelDefaults, PresentationDefaults[StepCase]):
    """The level as campaigns and reports know it."""

    name: ClassVar[str] = "steps"

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return one stream for each library that has the APIs; a shard calls its part of them."""
        yield from ()
        config = factory.config
        streams = []
        for group in factory.groups.values():
            chosen = select(group.records(), config.api, config.exclude, allow=config.allow)
            known = [record.api for record in chosen if record.api in APIS]
            if own := config.shard.part(known):
                largest = config[LARGEST]
                level = Steps(own, config.shard.seed(config.seed), largest=largest)
                kind = f"{self.name} up to {largest}: {' '.join(own)}"
                streams.append(factory.stream(level, group, kind=kind))
        return streams

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Return a script that makes the call, with the sum spelt out."""
        case = as_kind(finding.case, StepCase)
        source = source_of(finding, hint)
        call = f"result = {case.api}({case.start} + {case.step})"
        body = ("", [call, 'print("returned:", result)'])
        return assemble_script(finding, source, hint, header=header(finding, hint), body=body)

    def variants(self, case: StepCase) -> Iterator[StepCase]:
        """Yield cases with a smaller start, and with a smaller step."""
        yield from (replace(case, start=start) for start in _ROUND if start < case.start)
        if case.step:
            yield replace(case, step=case.step - (1 if case.step > 0 else -1))


LEVEL = StepLevel()
