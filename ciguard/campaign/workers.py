"""Specifications of the workers of targets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.campaign.capacity import ample_memory_mib
from ciguard.campaign.levels import levels_in
from ciguard.config import CONFINE_NEVER
from ciguard.execution import Limits, WorkerSpec
from ciguard.libraries import ForkPolicy
from ciguard.targets import worker_device

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.config import Config
    from ciguard.targets import Environment

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - granted to workers, not used here


def worker_spec(name: str, environment: Environment, config: Config) -> WorkerSpec:
    """Return the specification of a target's workers."""
    library = environment.library
    limits = Limits(
        case_s=case_limit_s(environment, config.case_limit_s),
        program_s=program_limit_s(environment, config.case_limit_s),
        memory_mib=config.memory_mib,
        ample_memory_mib=ample_memory_mib(config),
    )
    needs = [level.needs(config, library) for level in levels_in(config)]
    return WorkerSpec(
        name=name,
        python=environment.python,
        adapter=library.adapter,
        device=worker_device(environment.target),
        mode=environment.target.mode if environment.mode else "",
        variables=_merged(environment.variables, *(need.variables for need in needs)),
        readable=(*environment.readable, *(path for need in needs for path in need.readable)),
        writable=(*_writable(environment), *(path for need in needs for path in need.writable)),
        processes=environment.needs_processes,
        warm_up=library.forks is ForkPolicy.AFTER_USE,
        relations=any(need.relations for need in needs),
        functions=next((need.functions for need in needs if need.functions), None),
        guard=environment.guard,
        confine=config.confine != CONFINE_NEVER,
        limits=replace(limits, cases_per_worker=environment.mode.cases_per_worker)
        if environment.mode
        else limits,
    )


def _merged(*mappings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of all mappings; later ones take precedence."""
    return {name: value for variables in mappings for name, value in variables.items()}


def case_limit_s(environment: Environment, requested_s: float) -> float:
    """Return the timeout of one case: the requested or default one, plus that for compiling."""
    compile_s = environment.mode.compile_s if environment.mode else 0.0
    return (requested_s or environment.library.case_limit_s) + compile_s


def program_limit_s(environment: Environment, requested_s: float) -> float:
    """Return the timeout of one program: the default one, or the requested one if longer."""
    return max(requested_s, environment.library.program_limit_s)


def _writable(environment: Environment) -> tuple[Path, ...]:
    cache = () if environment.cache is None else (environment.cache,)
    # `multiprocessing.Lock` creates files in shared memory.
    return (*cache, _SHARED_MEMORY) if environment.needs_processes else cache
