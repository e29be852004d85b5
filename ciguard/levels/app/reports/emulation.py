"""Services on this machine: where they listen, what answers, what they are asked."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.levels.app.emulation import Speaking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.app.emulation import Emulation, RequestLogEntry
    from ciguard.levels.app.virtualization import Engine

_WIDTH = 300


def emulation_lines(running: Emulation) -> Iterator[str]:
    """Yield where it can be asked and how clients are told, and what answers are worth."""
    host = f"[{running.host}]" if ":" in running.host else running.host
    yield visible(f"REST http://{host}:{running.rest_port}")
    if isinstance(running.grpc, Speaking):
        versions = (f"{one} {' '.join(many)}" for one, many in running.grpc.versions.items())
        yield visible(f"gRPC {host}:{running.grpc.port} ({'; '.join(versions)})")
    else:
        said = f"gRPC left out: {running.grpc.reason}. --python names an interpreter that has "
        yield visible(f"{said}Google's clients.", limit=_WIDTH)
    yield visible(
        f"AWS: AWS_ENDPOINT_URL={running.address}, or endpoint_url; any credentials and region"
    )
    yield visible(
        f"Azure: endpoint {running.address}, any key; tokens with enforce_https=False in calls"
    )
    by_engine: dict[tuple[str, str], list[str]] = {}
    for operation, engine in running.answering().items():
        by_engine.setdefault((operation.provider, _engine(engine)), []).append(operation.name)
    for (provider, told), names in by_engine.items():
        yield visible(f"{provider} {', '.join(names)}: {told}", limit=_WIDTH)


def _engine(engine: Engine | None) -> str:
    if engine is None:
        return "not answered"
    return f"{'made up' if engine.is_simulated else 'recognised'}, {engine.name}"


class RequestLog:
    """Tells of requests, and counts them."""

    def __init__(self) -> None:
        self._codes: Counter[str] = Counter()

    def line(self, asked: RequestLogEntry) -> str:
        """Return what is told of a request, and count it."""
        self._codes[asked.code] += 1
        what = " ".join([asked.path, ", ".join(asked.operations)]).strip()
        said = f"{asked.code}: {asked.message}" if asked.message else asked.code
        clock = time.strftime("%H:%M:%S")
        return visible(f"{clock} {what}: {said} ({asked.seconds:.2f} s)", limit=_WIDTH)

    def summary(self) -> str:
        """Return what came of all of them."""
        parts = (f"{count} {code}" for code, count in sorted(self._codes.items()))
        told = f": {', '.join(parts)}" if self._codes else ""
        return f"{self._codes.total()} requests{told}"
