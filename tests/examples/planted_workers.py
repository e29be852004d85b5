"""Workers of the planted library, for tests of how they are held."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import planted
from ciguard_planted import adapter as planted_adapter

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import case_to_json
from ciguard.domain.values import LiteralValue
from ciguard.execution import Dispatcher, Job, Limits, ServerProcess, WorkerSpec, process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.outcomes import Outcome

_BOOTSTRAP = Path(process.__file__).with_name("worker") / "bootstrap.py"
_CAPPED_BOOTSTRAP = Path(__file__).with_name("capped_bootstrap.py")
FOLDERS = (Path(planted.__file__).parent.parent, Path(planted_adapter.__file__).parent)


def spec_of(**changes: object) -> WorkerSpec:
    """Return how workers of the planted library are run, but for some changes."""
    settings: dict[str, object] = {
        "name": "planted",
        "python": Path(sys.executable),
        "adapter": Path(planted_adapter.__file__),
        "readable": (Path(sys.prefix), Path(sys.base_prefix), *FOLDERS),
        "limits": Limits(case_s=10.0, memory_mib=256),
        **changes,
    }
    return WorkerSpec(**settings)  # type: ignore[arg-type]


@contextlib.contextmanager
def landlock(version: int) -> Iterator[WorkerSpec]:
    """Yield how workers are run as on a kernel with this version of Landlock, 0 for none."""
    variables = {"LANDLOCK": str(version), "BOOTSTRAP": str(_BOOTSTRAP)}
    folder = _CAPPED_BOOTSTRAP.parent
    with mock.patch.object(process, "BOOTSTRAP", _CAPPED_BOOTSTRAP):
        yield spec_of(variables=variables, readable=(*spec_of().readable, folder))


def started(dispatcher: Dispatcher, spec: WorkerSpec) -> ServerProcess:
    """Start a target's server."""
    server = dispatcher.start([spec])[spec.name]
    assert isinstance(server, ServerProcess), server
    return server


def outcomes_of(
    dispatcher: Dispatcher, *calls: tuple[str, *tuple[object, ...]], target: str = "planted"
) -> list[Outcome]:
    """Call functions of the planted library: name, then arguments."""
    cases = [
        ApiCall(
            api=f"planted.{name}",
            kind=CallKind.FUNCTION,
            arguments=tuple(LiteralValue(argument) for argument in arguments),  # type: ignore[arg-type]
        )
        for name, *arguments in calls
    ]
    encoded = tuple(json.dumps(case_to_json(case)).encode() for case in cases)
    dispatcher.add(Job(target, "test", encoded))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for result in dispatcher.wait(1.0):
            return list(result.outcomes)
    message = "no result within a minute"
    raise AssertionError(message)


def outcome_of(dispatcher: Dispatcher, name: str, *arguments: object) -> Outcome:
    """Call one function of the planted library."""
    (outcome,) = outcomes_of(dispatcher, (name, *arguments))
    return outcome
