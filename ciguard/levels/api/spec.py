"""Level `api` for campaigns: its streams, scripts and variants of cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ciguard.campaign import LevelDefaults, RelationChooser, WorkerNeeds, digest_of_apis
from ciguard.domain.api_calls import ApiCall
from ciguard.domain.records import ApiRecord
from ciguard.errors import ConfigurationError
from ciguard.levels import VisitedLevel, focus_shares, select
from ciguard.levels.api.at_limits import LimitsLevel
from ciguard.levels.api.compared import ComparedLevel
from ciguard.levels.api.level import ApiLevel
from ciguard.levels.api.script import call_script
from ciguard.levels.api.side_by_side import SideBySideLevel
from ciguard.levels.api.simplifying import perturbed_call, simpler_calls
from ciguard.targets import EAGER
from ciguard.triage import PresentationDefaults

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ciguard.campaign import Group, Stream, StreamFactory
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.libraries import Library
    from ciguard.oracles import Perturbation
    from ciguard.triage import EnvironmentHint

LevelFactory: TypeAlias = Callable[[Sequence[ApiRecord], int], VisitedLevel]
"""Function that makes a level from the records of the APIs to call and the seed of the run."""
_SIZES_IF_COMPILED = (1, 4, 16, 64)
"""Numbers of calls in the first batches of an API if calls are compiled: a first call takes so long
that several calls of each API would take most of a short run."""


class CallLevel(LevelDefaults, PresentationDefaults[ApiCall]):
    """Level whose cases are calls of a library's APIs."""

    def __init__(
        self,
        name: str,
        factory: LevelFactory,
        *,
        between_backends: LevelFactory | None = None,
        if_compiled: LevelFactory | None = None,
        side_by_side: LevelFactory | None = None,
    ) -> None:
        """Create the level.

        Args:
            name: the name of the level.
            factory: makes the level of a group of targets.
            between_backends: makes the level of targets that compute with different libraries;
                None for the same.
            if_compiled: makes the level of targets of which one compiles calls; None for the same.
            side_by_side: makes the level of several targets that compute with one library; None
                for the same.
        """
        self.name = name
        self._factory = factory
        self._between_backends = between_backends or factory
        self._if_compiled = if_compiled or factory
        self._side_by_side = side_by_side or factory

    def needs(self, config: Config, library: Library) -> WorkerNeeds:
        """Return whether calls have relations."""
        del library
        return WorkerNeeds(relations=bool(config.relations))

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return a stream for each library and mode.

        Each mode runs at its own pace, so that compilation does not delay eager execution.

        Raises:
            ConfigurationError: if the globs match no API of any library.
        """
        yield from ()
        groups = [group for group in factory.groups.values() if group.has_api]
        streams = [stream for group in groups for stream in self._streams_of_group(group, factory)]
        if not streams and any(group.running for group in groups):
            globs = ", ".join(factory.config.api)
            msg = (
                f"api = {globs!r} matches no API of {', '.join(factory.groups)}. "
                "Use qualified names, such as 'torch.nn.*' or 'tensorflow.raw_ops.*'."
            )
            raise ConfigurationError(msg)
        return streams

    def _streams_of_group(self, group: Group, factory: StreamFactory) -> list[Stream]:
        config = factory.config
        selected_records = select(group.records(), config.api, config.exclude, allow=config.allow)
        streams = []
        for mode in group.modes if selected_records else ():
            level = self.factory_for(group)(selected_records, config.seed)
            kind = self.name if mode == EAGER else f"{self.name} in mode {mode}"
            shares = focus_shares(selected_records, config.focus)
            stream = factory.visited_stream(
                level, group, shares, kind=kind, chosen=digest_of_apis(selected_records)
            )
            stream.mode = mode
            stream.parks = True
            if not config.shard.is_whole_campaign:
                stream.batches.own = config.shard.select(record.api for record in selected_records)
            # Between backends, results are compared, which a call with a relation is not.
            if config.relations and mode == EAGER and not group.spans_engines:
                stream.relating = RelationChooser(group, config.relations)
            streams.append(stream)
        return streams

    def factory_for(self, group: Group) -> LevelFactory:
        """Return what makes the level of a group."""
        if group.spans_engines:
            return self._between_backends
        if any(group.compiles_calls(name) for name in group.names):
            return self._if_compiled
        return self._side_by_side if len(group.running_eagerly) > 1 else self._factory

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Return a script that runs the call and shows the defect."""
        return call_script(finding, hint)

    def variants(self, case: ApiCall) -> Iterator[ApiCall]:
        """Yield calls with fewer or simpler arguments."""
        return simpler_calls(case)

    def perturb_inputs(self, case: ApiCall, seed: int, move: Perturbation) -> ApiCall:
        """Return the call with perturbed numbers in its arguments and inputs."""
        del seed
        return perturbed_call(case, move)


LEVEL = CallLevel(
    "api",
    LimitsLevel,
    between_backends=ComparedLevel,
    if_compiled=partial(ApiLevel, sizes=_SIZES_IF_COMPILED),
    side_by_side=SideBySideLevel,
)
