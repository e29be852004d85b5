"""Programs of one library on one target: what the benchmark of level `code` uses.

Groups, seed programs, streams, dispatcher and workers are those of `ciguard run`.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from accounting import children_cpu_s
from stage_results import result_of

from ciguard.campaign.batches import IndexedBatches
from ciguard.campaign.setup import start_groups
from ciguard.campaign.stream import Stream
from ciguard.config import Config
from ciguard.domain.programs import ProgramCase
from ciguard.execution import Dispatcher
from ciguard.levels.code.seeding import code_level, seed_programs
from ciguard.levels.code.settings import PROGRAMS
from ciguard.oracles import judge
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.campaign.group import Group
    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome


class Rig:
    """A target with its workers, and the seed programs of its library."""

    def __init__(self, dispatcher: Dispatcher, group: Group, config: Config) -> None:
        self._dispatcher = dispatcher
        self.group = group
        self.programs = result_of(seed_programs(config, group.library))
        self._level = code_level(group, config, self.programs)

    def run(self, *, seconds: float) -> Iterator[ExecutedBatch]:
        """Run batches as a campaign with one job does, for so long."""
        stream = Stream("benchmark", IndexedBatches(self._level), self.group, lanes=1)
        stream.is_whole, stream.limit_s = True, 300.0
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            stream.fill(self._dispatcher)
            for result in self._dispatcher.wait(1.0):
                yield from stream.take(result)

    def rows(self, executed: ExecutedBatch) -> Iterator[tuple[ProgramCase, dict[str, Outcome]]]:
        """Yield each program of a batch with its outcomes by target."""
        names = list(executed.outcomes)
        columns = zip(*executed.outcomes.values(), strict=True)
        for case, row in zip(executed.cases, columns, strict=True):
            if isinstance(case, ProgramCase):
                yield case, dict(zip(names, row, strict=True))

    def judged(self, case: ProgramCase, outcomes: dict[str, Outcome]) -> list[Finding]:
        """Return what the oracles say of a program; nothing is confirmed."""
        return judge(case, outcomes, self.group.subject(case.api))

    @property
    def cpu_s(self) -> float:
        """CPU seconds of this process, the servers and their workers."""
        return time.process_time() + children_cpu_s()


@contextmanager
def rig_on(targets: Sequence[str], programs: Sequence[str], *, seed: int = 0) -> Iterator[Rig]:
    """Start targets of one library, and end them."""
    found = [provision(parse_target(text), on_step=lambda _: None) for text in targets]
    environments = {environment.target.name: environment for environment in found}
    config = Config(targets=tuple(environments), levels=("code",), seed=seed)
    config = config.with_value(PROGRAMS, tuple(programs))
    with Dispatcher() as dispatcher:
        groups = result_of(start_groups(environments, config, dispatcher))
        (group,) = groups.values()
        failed = [member.not_run for member in group.members.values() if member.not_run]
        if failed:
            raise SystemExit("\n".join(failed))
        yield Rig(dispatcher, group, config)
