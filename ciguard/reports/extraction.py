"""What `ciguard api extract` found, as lines for a person."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.reports.documentation import documentation_counts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.knowledge import KnownApis, Parameter

_LISTED = 20
"""Names of one kind that are listed; the file has them all."""


def extraction_lines(
    known: KnownApis, documentation: Collection[DocumentationFinding]
) -> Iterator[str]:
    """Return how much is known of a library, what was left out and why, and what is wrong."""
    apis = [known.api(name) for name in known.records]
    parameters = [p for api in apis for p in api.parameters]
    evidence = [item for p in parameters for item in p.evidence]
    taking = [api for api in apis if api.parameters]
    constrained = sum(any(p.evidence for p in api.parameters) for api in taking)
    origin = known.provenance
    yield f"{origin.library} {visible(origin.version)}"
    yield f"  {len(apis):,} APIs, {len(parameters):,} parameters, {len(evidence):,} constraints"
    yield (
        f"  with a constraint: {constrained:,} of {len(taking):,} APIs that take arguments "
        f"({_percent(constrained, len(taking))}), {sum(map(_is_known, parameters)):,} parameters "
        f"({_percent(sum(map(_is_known, parameters)), len(parameters))})"
    )
    sources = Counter(item.source.name.lower().replace("_", " ") for item in evidence)
    if sources:
        listed = ", ".join(f"{source} {count:,}" for source, count in sources.most_common())
        yield f"  by source: {listed}"
    yield from _skipped(known)
    if documentation:
        yield f"  documentation: {documentation_counts(documentation)}"


def _is_known(parameter: Parameter) -> bool:
    return bool(parameter.evidence)


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def _skipped(known: KnownApis) -> Iterator[str]:
    unsigned = [
        name
        for name, record in known.records.items()
        if not record.parameters and not record.source
    ]
    if unsigned:
        more = f" and {len(unsigned) - _LISTED} more" if len(unsigned) > _LISTED else ""
        names = ", ".join(visible(name) for name in unsigned[:_LISTED])
        yield f"  without a signature, called without arguments: {len(unsigned)}: {names}{more}"
    for item in known.skipped[:_LISTED]:
        yield f"  skipped: {visible(item.name)}: {visible(item.reason)}"
    if len(known.skipped) > _LISTED:
        yield f"  skipped: {len(known.skipped) - _LISTED} more"
