"""How the workers of a target are run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

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
    """Return how a target's workers are run."""
    library = environment.library
    limits = Limits(
        case_s=case_limit_s(environment, config.case_limit_s),
        program_s=program_limit_s(environment, config.case_limit_s),
        memory_mib=config.memory_mib,
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
        functions=next((need.functions for need in needs if need.functions), None),
        confine=config.confine != CONFINE_NEVER,
        limits=replace(limits, cases_per_worker=environment.mode.cases_per_worker)
        if environment.mode
        else limits,
    )


def _merged(*several: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of all; where two name the same one, the later counts."""
    return {name: value for variables in several for name, value in variables.items()}


def case_limit_s(environment: Environment, asked_s: float) -> float:
    """Return the time limit of one case: what was asked for or is usual, and that for compiling."""
    compile_s = environment.mode.compile_s if environment.mode else 0.0
    return (asked_s or environment.library.case_limit_s) + compile_s


def program_limit_s(environment: Environment, asked_s: float) -> float:
    """Return the time limit of one program: the usual one, or what was asked for if it is more."""
    return max(asked_s, environment.library.program_limit_s)


def _writable(environment: Environment) -> tuple[Path, ...]:
    kept = () if environment.cache is None else (environment.cache,)
    # Locks between the processes of one worker are files there (`multiprocessing.Lock`).
    return (*kept, _SHARED_MEMORY) if environment.needs_processes else kept
