"""The process that serves gRPC, in an interpreter whose client libraries define the messages."""

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
    from ciguard.levels.app.providers.contract import GrpcServer

_START_TIMEOUT_S = 120.0
_CHECK_TIMEOUT_S = 10.0
_MAX_BYTES = MAX_BYTES // 4 * 3 - (1 << 16)
"""Maximum size of a gRPC message, which in base64 still fits into an HTTP request."""
_LOCAL_ADDRESSES = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - no server listens on it
"""Address of all interfaces → address by which a client on this machine reaches the server."""


class EndedError(CiguardError):
    """The gRPC process has ended unexpectedly."""


@dataclass(frozen=True, slots=True)
class GrpcAvailable:
    """State of a gRPC server that is running."""

    port: int
    versions: Mapping[str, Sequence[str]]
    """Supported versions by service."""


@dataclass(frozen=True, slots=True)
class GrpcUnavailable:
    """State of a gRPC server that cannot run, as the client libraries are missing."""

    reason: str


def client_address_of(host: str) -> str:
    """Return the address by which clients on this machine reach a server that listens on a host."""
    return _LOCAL_ADDRESSES.get(host, host)


class GrpcProcess:
    """Starts the gRPC process, and monitors it."""

    def __init__(self, grpc: GrpcServer, python: str, host: str, port: int, rest_port: int) -> None:
        """Prepare the process; `start` starts it.

        Args:
            grpc: the gRPC server of the provider.
            python: interpreter with the client libraries of the provider.
            host: address to listen on.
            port: port to listen on; 0 for any free port.
            rest_port: HTTP port to forward requests to.

        Raises:
            ConfigurationError: if there is no such interpreter.
        """
        if shutil.which(python) is None:
            msg = (
                f"--python {python}: program not found. Name an interpreter of Python 3.9 or later."
            )
            raise ConfigurationError(msg)
        self._address = f"{host}:{port}"
        details = {
            "host": host,
            "port": port,
            "rest": [client_address_of(host), rest_port],
            "versions": {service: list(versions) for service, versions in grpc.versions.items()},
            "max_bytes": _MAX_BYTES,
        }
        self._process = Host(HostSettings(python=python, entry=grpc.entry, details=details))

    def start(self) -> GrpcAvailable | GrpcUnavailable:
        """Start the process, and return whether it serves gRPC.

        The calling thread has to keep running, as the process ends with it.

        Raises:
            WorkerStartError: if the interpreter does not start.
            ConfigurationError: if the address cannot be used.
            EndedError: if the process ends at once.
        """
        state = self._state(_START_TIMEOUT_S)
        if "problem" in state:
            msg = (
                f"cannot listen on {self._address}: {state['problem']}. "
                "Choose another --host or --grpc-port."
            )
            raise ConfigurationError(msg)
        if "missing" in state:
            return GrpcUnavailable(state["missing"])
        return GrpcAvailable(state["port"], state["versions"])

    def check(self) -> None:
        """Check that the process still runs.

        Raises:
            EndedError: if it does not.
        """
        self._state(_CHECK_TIMEOUT_S)

    def _state(self, limit_s: float) -> Json:
        """Return the state that the gRPC process reports within a time limit."""
        answer = self._process.ask({}, limit_s=limit_s)
        if isinstance(answer, Answered):
            return answer.content
        failure = (
            f"has ended: {answer.cause}" if isinstance(answer, ProcessEnded) else "does not answer"
        )
        output = "".join(self._process.output()).strip()
        msg = f"The gRPC process {failure}. {output}".strip()
        raise EndedError(msg)

    def close(self) -> None:
        """End the process."""
        self._process.close()
