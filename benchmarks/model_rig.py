"""Three targets of Keras 3 and mutants that run on them: what the benchmark of level `model` uses.

Groups, seed models, streams, dispatcher and workers are those of `ciguard run`.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from accounting import children_cpu_s

from ciguard.campaign.group import Group
from ciguard.campaign.seeding import seed_models
from ciguard.campaign.setup import start_groups
from ciguard.campaign.stream import Executed, Stream
from ciguard.config import Config
from ciguard.domain import Check, Event, ModelCase
from ciguard.execution import Dispatcher
from ciguard.levels import ModelLevel, select
from ciguard.oracles import amplification, suspicion
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from ciguard.domain import Outcome
    from ciguard.levels import Batch, SeedModel
    from ciguard.targets import Environment

T = TypeVar("T")

TARGETS = (
    "keras==3.15.1 + torch==2.13.0",
    "keras==3.15.1 + tensorflow-cpu==2.21.0",
    "keras==3.15.1 + jax",
)


def environments_of(targets: Sequence[str]) -> dict[str, Environment]:
    """Return the environments of targets by name, built if need be."""
    found = [provision(parse_target(text), on_step=lambda _: None) for text in targets]
    return {environment.target.name: environment for environment in found}


def with_adapter(environment: Environment, adapter: Path) -> Environment:
    """Return an environment whose workers load another adapter."""
    library = replace(environment.library, adapter=adapter)
    return replace(
        environment, library=library, readable=(*environment.readable, adapter.parent.resolve())
    )


class PredictingLevel(ModelLevel):
    """Level `model` whose every case predicts, as a plain script would do with a model."""

    def cases(self, index: int) -> Batch:
        """Return the batch of that index."""
        batch = super().cases(index)
        return replace(batch, cases=tuple(map(_predicting, batch.cases)))


def _predicting(case: object) -> ModelCase:
    if not isinstance(case, ModelCase):
        msg = f"level model made {case!r}"
        raise TypeError(msg)
    return replace(case, check=Check.PREDICT, training=False)


@dataclass
class Ran:
    """A batch, and what it cost until it was judged."""

    executed: Executed
    cpu_s: float
    """Of all processes since the batch before: what is under way costs as well."""

    def rows(self) -> Iterator[tuple[ModelCase, dict[str, Outcome]]]:
        """Yield each case with its outcomes by target."""
        names = list(self.executed.outcomes)
        columns = zip(*self.executed.outcomes.values(), strict=True)
        for case, row in zip(self.executed.cases, columns, strict=True):
            if isinstance(case, ModelCase):
                yield case, dict(zip(names, row, strict=True))


class Rig:
    """Targets with their workers, and seed models to mutate."""

    def __init__(self, dispatcher: Dispatcher, group: Group, config: Config) -> None:
        self._dispatcher = dispatcher
        self._config = config
        self.group = group
        self.models: list[SeedModel] = _result(seed_models(group, config, dispatcher))
        self.records = select(group.records(), config.api, config.exclude, allow=config.allow)

    def level(self, seed: int, *, is_guided: bool = True, predicts: bool = True) -> ModelLevel:
        """Return a level that has learned nothing yet."""
        kind = PredictingLevel if predicts else ModelLevel
        return kind(
            self.records,
            seed,
            models=self.models,
            amplification=amplification,
            is_guided=is_guided,
        )

    def run(self, level: ModelLevel, *, batches: int) -> Iterator[Ran]:
        """Generate, run and judge batches on all targets, as a campaign with one job does."""
        stream = Stream("benchmark", level, self.group, lanes=1)
        stream.runs_models = True
        stream.last = batches
        before = self.cpu_s
        while not stream.is_exhausted:
            stream.fill(self._dispatcher)
            for result in self._dispatcher.wait(1.0):
                for executed in stream.take(result):
                    ran = Ran(executed, 0.0)
                    for case, outcomes in ran.rows():
                        suspicion(case, outcomes)
                    now = self.cpu_s
                    ran.cpu_s, before = now - before, now
                    yield ran

    @property
    def cpu_s(self) -> float:
        """CPU seconds of this process, the servers and their workers."""
        return time.process_time() + children_cpu_s()


@contextmanager
def rig_on(
    environments: dict[str, Environment], models: Sequence[str], *, width: int
) -> Iterator[Rig]:
    """Start the targets, and end them."""
    config = Config(
        targets=tuple(environments), levels=("model",), models=tuple(models), model_width=width
    )
    with Dispatcher() as dispatcher:
        groups = _result(start_groups(environments, config, dispatcher))
        (group,) = groups.values()
        failed = [member.not_run for member in group.members.values() if member.not_run]
        if failed:
            raise SystemExit("\n".join(failed))
        yield Rig(dispatcher, group, config)


def _result(events: Generator[Event, None, T]) -> T:
    """Return what a stage of a campaign comes to; what it says on the way is not shown."""
    while True:
        try:
            next(events)
        except StopIteration as stop:
            result: T = stop.value
            return result
