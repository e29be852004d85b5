"""The process that speaks gRPC, beside the client libraries that have the messages."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.errors import CiguardError, ConfigurationError
from ciguard.execution import Answered, Host, HostSettings, ProcessEnded
from ciguard.levels.app.emulation.bodies import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.contract import Grpc

_START_S = 120.0
_LIMIT_S = 10.0
_MAX_BYTES = MAX_BYTES // 4 * 3 - (1 << 16)
"""Of a message, so that it is no longer than others when its bytes are written as text."""
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - compared with
"""Where a service can be asked that listens on all addresses."""


class EndedError(CiguardError):
    """The process has ended, though nobody has asked it to."""


@dataclass(frozen=True, slots=True)
class Speaking:
    """It speaks gRPC."""

    port: int
    versions: Mapping[str, Sequence[str]]
    """Of each service."""


@dataclass(frozen=True, slots=True)
class Silent:
    """It does not: there are no client libraries."""

    reason: str


def reachable(host: str) -> str:
    """Return where a service that listens on a host can be asked on this machine."""
    return _ANYWHERE.get(host, host)


class GrpcSide:
    """Starts the process, and hears whether it is there still."""

    def __init__(self, grpc: Grpc, python: str, host: str, port: int, rest_port: int) -> None:
        """Prepare it; `start` starts it.

        Args:
            grpc: what is served.
            python: interpreter that has the provider's client libraries.
            host: to listen on.
            port: likewise; 0 for any that is free.
            rest_port: that requests are handed on to.

        Raises:
            ConfigurationError: if there is no such interpreter.
        """
        if shutil.which(python) is None:
            msg = f"--python {python}: no such program. Name an interpreter, Python 3.9 or later."
            raise ConfigurationError(msg)
        self._address = f"{host}:{port}"
        details = {
            "host": host,
            "port": port,
            "rest": [reachable(host), rest_port],
            "versions": {service: list(several) for service, several in grpc.versions.items()},
            "most_bytes": _MAX_BYTES,
        }
        self._process = Host(HostSettings(python=python, entry=grpc.entry, details=details))

    def start(self) -> Speaking | Silent:
        """Start it. From a thread that lives on: it ends with that.

        Raises:
            WorkerStartError: if the interpreter does not start.
            ConfigurationError: if the address cannot be had.
            EndedError: if it ends at once.
        """
        state = self._state(_START_S)
        if "problem" in state:
            msg = f"{self._address}: {state['problem']}. Choose --host or --grpc-port anew."
            raise ConfigurationError(msg)
        if "missing" in state:
            return Silent(state["missing"])
        return Speaking(state["port"], state["versions"])

    def check(self) -> None:
        """Ask whether it is there still.

        Raises:
            EndedError: if it is not.
        """
        self._state(_LIMIT_S)

    def _state(self, limit_s: float) -> Json:
        answer = self._process.ask({}, limit_s=limit_s)
        if isinstance(answer, Answered):
            return answer.content
        ended = (
            f"has ended: {answer.cause}" if isinstance(answer, ProcessEnded) else "does not answer"
        )
        said = "".join(self._process.output()).strip()
        msg = f"what speaks gRPC {ended}. {said}".strip()
        raise EndedError(msg)

    def close(self) -> None:
        """End it."""
        self._process.close()
