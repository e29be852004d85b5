"""Summary that `ciguard api extract` prints."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.reports.documentation import documentation_counts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.knowledge import KnownApis

_MAX_LISTED = 20
"""Maximum number of names in a list; the file with the catalogue has all of them."""


def extraction_lines(
    known: KnownApis, documentation: Collection[DocumentationFinding]
) -> Iterator[str]:
    """Yield lines about a library: its APIs and constraints, skipped names, documentation defects.

    Args:
        known: the catalogue of the library.
        documentation: the findings about its documentation.
    """
    apis = [known.api(name) for name in known.records]
    parameters = [p for api in apis for p in api.parameters]
    evidence = [item for p in parameters for item in p.evidence]
    with_parameters = [api for api in apis if api.parameters]
    constrained = sum(any(p.evidence for p in api.parameters) for api in with_parameters)
    known_parameters = sum(bool(parameter.evidence) for parameter in parameters)
    origin = known.provenance
    yield f"{origin.library} {visible(origin.version)}"
    yield f"  {len(apis):,} APIs, {len(parameters):,} parameters, {len(evidence):,} constraints"
    yield (
        f"  with a constraint: {constrained:,} of {len(with_parameters):,} APIs that take "
        f"arguments ({_percent(constrained, len(with_parameters))}), {known_parameters:,} "
        f"parameters ({_percent(known_parameters, len(parameters))})"
    )
    sources = Counter(item.source.name.lower().replace("_", " ") for item in evidence)
    if sources:
        listed = ", ".join(f"{source} {count:,}" for source, count in sources.most_common())
        yield f"  by source: {listed}"
    yield from _skipped(known)
    if documentation:
        yield f"  documentation: {documentation_counts(documentation)}"


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def _skipped(known: KnownApis) -> Iterator[str]:
    """Yield lines about APIs without a signature and about skipped names."""
    unsigned = [
        name
        for name, record in known.records.items()
        if not record.parameters and not record.source
    ]
    if unsigned:
        more = f" and {len(unsigned) - _MAX_LISTED} more" if len(unsigned) > _MAX_LISTED else ""
        names = ", ".join(visible(name) for name in unsigned[:_MAX_LISTED])
        yield (
            f"  APIs without a signature, called without arguments ({len(unsigned)}): {names}{more}"
        )
    for item in known.skipped[:_MAX_LISTED]:
        yield f"  skipped: {visible(item.name)}: {visible(item.reason)}"
    if len(known.skipped) > _MAX_LISTED:
        yield f"  skipped: {len(known.skipped) - _MAX_LISTED} more"
