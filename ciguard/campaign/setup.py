"""From environments to groups that can run: servers started, catalogues read, streams made."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from ciguard.campaign.catalogue import catalogue
from ciguard.campaign.code_seeds import (
    code_level,
    refuse_without_library,
    seed_programs,
    trees_for,
)
from ciguard.campaign.confining import confinement_warning, try_confinement
from ciguard.campaign.experience import Snapshot
from ciguard.campaign.frontier import stream_key
from ciguard.campaign.function_seeds import digest_of, tested_functions
from ciguard.campaign.group import Group, groups_of, worker_spec
from ciguard.campaign.relating import Relating
from ciguard.campaign.seeding import APP, CODE, FUNCTION, refuse_without_keras, seed_models
from ciguard.campaign.seeding import LEVEL as MODELS
from ciguard.campaign.seeding import LIBRARY as MODELLED
from ciguard.campaign.stream import Stream
from ciguard.domain import (
    MAX_TEXT_LENGTH,
    DocumentationChecked,
    Event,
    TargetReady,
    TargetSummary,
    TargetUnavailable,
    Warned,
    shortened,
)
from ciguard.errors import ConfigurationError, WorkerStartError
from ciguard.levels import (
    CODE_LIBRARIES,
    LEVELS,
    REPEATS_WHERE_COMPILED,
    FunctionLevel,
    LearningLevel,
    ModelLevel,
    focused,
    select,
    select_layers,
)
from ciguard.oracles import amplification, documentation_findings
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from ciguard.campaign.group import Member
    from ciguard.config import Config
    from ciguard.domain import ApiRecord
    from ciguard.execution import Dispatcher
    from ciguard.targets import Environment

Choose: TypeAlias = Callable[["Group", Callable[[str], str]], Snapshot]
"""Chooses what a group's level begins with. The second argument names the stream by the digest."""

_FEW = 3
"""Names of what was left out that one warning holds; `ciguard extract` lists them all."""
_LIMIT_OF_MODEL_S = 60.0
"""Time of one run of a model: hundreds of layers, each of which may have to be compiled."""
_COMPILING = "jax"


def start_groups(
    environments: Mapping[str, Environment], config: Config, dispatcher: Dispatcher
) -> Generator[Event, None, dict[str, Group]]:
    """Start every target's server and read its catalogue.

    Returns:
        Groups by library. A target that cannot start stays in its group, marked `not_run`.
    """
    groups = groups_of(environments)
    specs = [worker_spec(name, environment, config) for name, environment in environments.items()]
    started = dispatcher.start(specs)
    for group in groups.values():
        for member in group.members.values():
            server = started[member.name]
            if isinstance(server, WorkerStartError):
                member.not_run = str(server)
            else:
                try_confinement(member, config, server, dispatcher)
                yield from _describe(member, dispatcher)
            if member.not_run:
                yield TargetUnavailable(target=member.name, reason=member.not_run)
            else:
                yield TargetReady(target=summary(member))
                yield from confinement_warning(member, config)
    return groups


def _describe(member: Member, dispatcher: Dispatcher) -> Iterable[Event]:
    try:
        found = catalogue(member.name, member.environment, dispatcher)
    except WorkerStartError as error:
        member.not_run = str(error)
        return
    member.catalogue = found.known.records
    yield from (Warned(message=notice) for notice in found.notices)
    lost = [f"{item.name} ({item.reason})" for item in found.known.skipped]
    if lost:
        more = f", and {len(lost) - _FEW} more" if len(lost) > _FEW else ""
        message = f"{member.name}: left out, could not be described: {', '.join(lost[:_FEW])}{more}"
        yield Warned(message=message)


def documentation_of(groups: Mapping[str, Group]) -> Iterable[DocumentationChecked]:
    """Read the documentation of every library once."""
    for group in groups.values():
        findings = documentation_findings(group.records(), group.library)
        yield DocumentationChecked(library=group.library, findings=tuple(findings))


def summary(member: Member) -> TargetSummary:
    """Return a member as reports show it."""
    environment = member.environment
    return TargetSummary(
        name=member.name,
        library=environment.library.name,
        version=environment.version,
        python=environment.python_version,
        device=environment.target.device,
        packages=environment.packages,
        confined_by=member.confined_by,
        unconfined=member.unconfined,
        apis=len(member.catalogue),
        tally=member.tally,
        not_run=shortened(member.not_run, MAX_TEXT_LENGTH),
    )


def streams_of(
    groups: Mapping[str, Group], config: Config, *, lanes: int, choose: Choose | None = None
) -> list[Stream]:
    """Return one stream per level, mode and group that has something to test.

    Each mode goes at its own pace: compiling must not hold up what runs eagerly.

    Args:
        groups: by library.
        config: of the run.
        lanes: workers per target.
        choose: what a group's levels begin with; given the group and what names its stream.

    Raises:
        ConfigurationError: if the globs leave nothing of any library.
    """
    streams: list[Stream] = []
    levels = [level for level in config.levels if level not in {MODELS, CODE, FUNCTION, APP}]
    with_apis = [group for group in groups.values() if has_api(group)]
    for group in with_apis if levels else ():
        chosen = select(group.records(), config.api, config.exclude, allow=config.allow)
        if not chosen:
            continue
        for level, mode in product(levels, group.modes):
            made, round_length = focused(LEVELS.get(level), chosen, config.seed, focus=config.focus)
            kind = level if mode == EAGER else f"{level} in mode {mode}"
            named = partial(_stream_name, kind, config, group, _digest(chosen))
            used = Snapshot()
            if choose is not None and isinstance(made, LearningLevel):
                used = choose(group, named)
                made.recall(used.learned)
            stream = Stream(named(used.digest), made, group, lanes=lanes, apis=round_length)
            stream.mode = mode
            if not config.shard.is_all:
                stream.own = config.shard.of_these(record.api for record in chosen)
            if config.relations and mode == EAGER:
                stream.relating = Relating(group, config.relations)
            streams.append(stream)
    if levels and not streams and any(group.running for group in with_apis):
        globs = ", ".join(config.api)
        msg = (
            f"api = {globs!r}: matches no API of {', '.join(groups)}. "
            "Names are qualified, such as 'torch.nn.*' or 'tensorflow.raw_ops.*'."
        )
        raise ConfigurationError(msg)
    return streams


def has_api(group: Group) -> bool:
    """Return whether a group's library has an API to call; the client of a service has none."""
    return any(member.environment.library.has_api for member in group.members.values())


def model_streams(
    groups: Mapping[str, Group], config: Config, dispatcher: Dispatcher, *, lanes: int
) -> Generator[Event, None, list[Stream]]:
    """Return the stream of level `model`, if the run has that level.

    A shard mutates seed models of its own, or all, where there are fewer of them than shards.

    Raises:
        ConfigurationError: if no target is one of Keras, or no seed model can be described.
        WorkerStartError: if the server of the target that describes them is gone.
    """
    if MODELS not in config.levels:
        return []
    refuse_without_keras(groups)
    group = groups[MODELLED]
    if not group.running_eagerly:
        return []
    models = yield from seed_models(group, config, dispatcher)
    shard = config.shard
    own = models[shard.index - 1 :: shard.of] or models
    chosen = select_layers(group.records(), config.api, config.exclude)
    seed = config.seed if shard.is_all else config.seed * shard.of + shard.index
    repeats = REPEATS_WHERE_COMPILED if compiles(group) else 0.0
    level = ModelLevel(chosen, seed, models=own, amplification=amplification, repeats=repeats)
    names = "\n".join(model.name for model in own)
    kind = f"{MODELS} of {config.model_width} % width: {names}"
    stream = Stream(
        _stream_name(kind, config, group, _digest(chosen), ""), level, group, lanes=lanes
    )
    stream.is_whole, stream.spares, stream.limit_s = True, True, _LIMIT_OF_MODEL_S
    return [stream]


def compiles(group: Group) -> bool:
    """Return whether a target compiles each operation for each shape, as JAX does."""
    environments = [member.environment for member in group.members.values() if not member.not_run]
    return any(
        one.variables.get(one.library.backend_variable) == _COMPILING for one in environments
    )


def code_streams(
    groups: Mapping[str, Group], config: Config, *, lanes: int
) -> Generator[Event, None, list[Stream]]:
    """Return a stream of level `code` for each library with seed programs, if the run has it.

    A shard grows trees of seeds of its own, or of all, where there are fewer of them than shards.

    Raises:
        ConfigurationError: if programs are written for none of the targets, or none of the seeds
            can be taken apart.
    """
    if CODE not in config.levels:
        return []
    refuse_without_library(groups)
    trees = trees_for(lanes)
    streams = []
    for group in groups.values():
        if group.library not in CODE_LIBRARIES or not group.running_eagerly:
            continue
        programs = yield from seed_programs(config, group.library)
        shard = config.shard
        own = programs[shard.index - 1 :: shard.of] or programs
        if not own:
            continue
        texts = "\n".join(program.source for program in own)
        kind = f"{CODE}, {config.mutations} mutations, breadth {config.breadth}, {config.encoder}"
        kind += f", {trees} trees"  # lessons name them by number
        digest = hashlib.sha256(texts.encode()).hexdigest()
        chosen = _digest(select_layers(group.records(), config.api, config.exclude))
        name = _stream_name(f"{kind}: {digest}", config, group, chosen, "")
        stream = Stream(name, code_level(group, config, own, trees=trees), group, lanes=lanes)
        stream.is_whole = stream.spares = True
        streams.append(stream)
    if not streams and any(group.running_eagerly for group in groups.values()):
        msg = "programs: none of the seed programs can be taken apart; see the warnings above."
        raise ConfigurationError(msg)
    return streams


def function_streams(
    groups: Mapping[str, Group], config: Config, dispatcher: Dispatcher, *, lanes: int
) -> Generator[Event, None, list[Stream]]:
    """Return a stream of level `function` for each library, if the run has that level.

    A shard calls functions of its own, or all, where there are fewer of them than shards.

    Raises:
        ConfigurationError: if annotations are wrong, or no function can be tested.
        WorkerStartError: if the server of a target is gone.
    """
    if FUNCTION not in config.levels:
        return []
    streams = []
    for group in groups.values():
        if not group.running_eagerly:
            continue
        tested = yield from tested_functions(group, config, dispatcher)
        shard = config.shard
        own = tested[shard.index - 1 :: shard.of] or tested
        if not own:
            continue
        seed = config.seed if shard.is_all else config.seed * shard.of + shard.index
        level, turns = focused(FunctionLevel, own, seed, focus=config.focus)
        name = _stream_name(f"{FUNCTION}: {digest_of(own)}", config, group, "", "")
        stream = Stream(name, level, group, lanes=lanes, apis=turns)
        stream.is_whole = True
        streams.append(stream)
    if not streams and any(group.running_eagerly for group in groups.values()):
        msg = "functions: none can be tested on these targets; see the warnings above."
        raise ConfigurationError(msg)
    return streams


def _stream_name(level: str, config: Config, group: Group, chosen: str, learned: str) -> str:
    """Return the name of a stream by all that decides its cases."""
    requests = (member.identity.request for member in group.members.values())
    focus = [f"focus {glob}" for glob in config.focus]
    return stream_key(
        *(level, config.seed, *requests, *config.relations, chosen),
        *([learned] if learned else []),
        *focus,
    )


def divide_cases(streams: list[Stream], max_cases: int) -> None:
    """Give every stream an equal part of `max_cases`, in whole batches."""
    for stream in streams:
        if max_cases:
            stream.end_after(max(1, max_cases // len(streams)))


def _digest(records: Iterable[ApiRecord]) -> str:
    names = "\n".join(record.api for record in records)
    return hashlib.sha256(names.encode()).hexdigest()
