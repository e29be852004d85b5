"""Three targets of Keras 3 and mutants that run on them: what the benchmark of level `model` uses.

Groups, seed models, streams, dispatcher and workers are those of `ciguard run`.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from accounting import children_cpu_s
from stage_results import result_of

from ciguard.campaign.batches import IndexedBatches
from ciguard.campaign.setup import start_groups
from ciguard.campaign.stream import ExecutedBatch, Stream
from ciguard.config import Config
from ciguard.domain.models import Check, ModelCase
from ciguard.execution import Dispatcher
from ciguard.levels import select_layers
from ciguard.levels.model.feedback import ModelFeedback
from ciguard.levels.model.level import REPEATS_WHERE_COMPILED, ModelLevel
from ciguard.levels.model.seeding import seed_models
from ciguard.levels.model.settings import MODELS, WIDTH
from ciguard.levels.model.suspicion import suspicion
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ciguard.campaign.group import Group
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Json
    from ciguard.execution import JobResult
    from ciguard.levels import Batch
    from ciguard.levels.model.seeds import SeedModel
    from ciguard.targets import Environment


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

    def __init__(
        self,
        apis: Sequence[ApiRecord],
        seed: int,
        *,
        models: Sequence[SeedModel],
    ) -> None:
        """Make the level, see `ModelLevel`."""
        super().__init__(
            apis,
            seed,
            models=models,
            repeat_probability=REPEATS_WHERE_COMPILED,
        )
        self._seeds = len(models)
        self.received: deque[ModelFeedback | None] = deque()
        """What batches taught, in the order of their index; the caller takes them."""

    def cases(self, index: int) -> Batch:
        """Return the batch of that index; of a seed model one case."""
        batch = super().cases(index)
        cases = [replace(case, check=Check.PREDICT, training=False) for case in _models(batch)]
        return replace(batch, cases=tuple(cases[:1] if index < self._seeds else cases))

    def feedback(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> Json:
        """Return the feedback of a batch, and keep it."""
        content = super().feedback(index, batch, outcomes)
        self.received.append(ModelFeedback.from_json(content) if content else None)
        return content


def _models(batch: Batch) -> list[ModelCase]:
    return [case for case in batch.cases if isinstance(case, ModelCase)]


@dataclass
class Ran:
    """A batch, and what it cost until it was judged."""

    executed: ExecutedBatch
    feedback: ModelFeedback | None
    """What it taught."""

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
        self.group = group
        self.spent: dict[str, float] = defaultdict(float)
        """CPU seconds of this process by stage."""
        self.models: list[SeedModel] = result_of(seed_models(group, config, dispatcher))
        self.records = select_layers(group.records(), config.api, config.exclude)

    def predicting(self, seed: int) -> PredictingLevel:
        """Return a level that has learned nothing yet, for targets of which one is JAX."""
        return PredictingLevel(self.records, seed, models=self.models)

    def every_check(self, seed: int) -> ModelLevel:
        """Return a level as campaigns have it: a part of its cases train, or save and load."""
        return ModelLevel(
            self.records,
            seed,
            models=self.models,
            repeat_probability=REPEATS_WHERE_COMPILED,
        )

    def run(self, level: ModelLevel, *, batches: int) -> Iterator[Ran]:
        """Generate, run and judge batches on all targets, as a campaign with one job does."""
        stream = Stream("benchmark", IndexedBatches(level), self.group, lanes=1)
        stream.is_whole, stream.limit_s = True, 60.0
        stream.batches.last = batches
        while not stream.is_exhausted:
            with self._spending("generating and encoding"):
                stream.fill(self._dispatcher)
            for result in self._dispatcher.wait(1.0):
                yield from self._judged(stream, level, result)

    def _judged(self, stream: Stream, level: ModelLevel, result: JobResult) -> Iterator[Ran]:
        with self._spending("decoding and judging"):
            complete = list(stream.take(result))
        for executed in complete:
            lesson = level.received.popleft() if isinstance(level, PredictingLevel) else None
            ran = Ran(executed, lesson)
            with self._spending("decoding and judging"):
                for case, outcomes in ran.rows():
                    suspicion(case, outcomes)
            yield ran

    @contextmanager
    def _spending(self, stage: str) -> Iterator[None]:
        began = time.process_time()
        yield
        self.spent[stage] += time.process_time() - began

    @property
    def cpu_s(self) -> float:
        """CPU seconds of this process, the servers and their workers."""
        return time.process_time() + children_cpu_s()


@contextmanager
def rig_on(
    environments: dict[str, Environment], models: Sequence[str], *, width: int
) -> Iterator[Rig]:
    """Start the targets, and end them."""
    config = Config(targets=tuple(environments), levels=("model",))
    config = config.with_value(MODELS, tuple(models)).with_value(WIDTH, width)
    with Dispatcher() as dispatcher:
        groups = result_of(start_groups(environments, config, dispatcher))
        (group,) = groups.values()
        failed = [member.not_run for member in group.members.values() if member.not_run]
        if failed:
            raise SystemExit("\n".join(failed))
        yield Rig(dispatcher, group, config)
