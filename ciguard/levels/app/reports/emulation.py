"""Reports of emulated services: addresses, engines and requests."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.levels.app.emulation import GrpcAvailable
from ciguard.levels.app.reports.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.app.emulation import Emulation, RequestLogEntry
    from ciguard.levels.app.virtualization import Engine

_MAX_LINE_LENGTH = 300


def emulation_lines(running: Emulation) -> Iterator[str]:
    """Yield the addresses, instructions for clients, and the engine of each operation."""
    host = f"[{running.host}]" if ":" in running.host else running.host
    yield visible(f"REST http://{host}:{running.rest_port}")
    if isinstance(running.grpc, GrpcAvailable):
        supported = (
            f"{service} {' '.join(versions)}" for service, versions in running.grpc.versions.items()
        )
        yield visible(f"gRPC {host}:{running.grpc.port} ({'; '.join(supported)})")
    else:
        reason = f"gRPC is not available: {running.grpc.reason}."
        hint = "Use --python to name an interpreter with Google's client libraries."
        yield visible(f"{reason} {hint}", limit=_MAX_LINE_LENGTH)
    yield visible(
        f"AWS: set AWS_ENDPOINT_URL={running.address}, or the client's argument endpoint_url; "
        "any credentials and region are accepted"
    )
    yield visible(
        f"Azure: set the client's endpoint to {running.address}, and any key; "
        "for tokens, pass enforce_https=False to each call"
    )
    names_by_engine: dict[tuple[str, str], list[str]] = {}
    for operation, engine in running.answering().items():
        names_by_engine.setdefault((operation.provider, _engine_text(engine)), []).append(
            operation.name
        )
    for (provider, engine_text), names in names_by_engine.items():
        yield visible(f"{provider} {', '.join(names)}: {engine_text}", limit=_MAX_LINE_LENGTH)


def _engine_text(engine: Engine | None) -> str:
    if engine is None:
        return "not supported"
    return f"{'simulated' if engine.is_simulated else 'recognised'}, {engine.name}"


class RequestLog:
    """Formatter of a log line per request, which also counts the results."""

    def __init__(self) -> None:
        self._codes: Counter[str] = Counter()

    def line(self, entry: RequestLogEntry) -> str:
        """Return the log line of a request, and count its result."""
        self._codes[entry.code] += 1
        request = " ".join([entry.path, ", ".join(entry.operations)]).strip()
        result = f"{entry.code}: {entry.message}" if entry.message else entry.code
        clock = time.strftime("%H:%M:%S")
        return visible(
            f"{clock} {request}: {result} ({entry.seconds:.2f} s)", limit=_MAX_LINE_LENGTH
        )

    def summary(self) -> str:
        """Return the number of requests, in total and by result."""
        parts = (f"{count} {code}" for code, count in sorted(self._codes.items()))
        by_code = f": {', '.join(parts)}" if self._codes else ""
        return f"{counted(self._codes.total(), 'request')}{by_code}"
