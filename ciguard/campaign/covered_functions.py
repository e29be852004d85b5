"""The user's functions that runs which wrote the baseline have tested.

The base of a pull request runs the sources of the head. So it proves no defect of the user's
functions to be older, unlike an earlier run on the default branch that tested a function and did
not find the defect. A change of other files adds no defect to a function, so only functions whose
file has changed since count.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.domain.findings import Comparison

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ciguard.domain.findings import Bucket, TargetSummary

_DIGEST_LENGTH = 16
_MAX_SOURCE_BYTES = 16 * 1024 * 1024


@dataclass
class _Covered:
    """What tested one function."""

    source: str = ""
    """Digest of the file; empty if it could not be read."""
    budgets_s: dict[str, float] = field(default_factory=dict)
    """Seconds of the largest budget, by version of the library."""


class CoveredFunctions:
    """Budgets with which each function was tested, by version of the library."""

    def __init__(self, stored: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Read the JSON form.

        Raises:
            ValueError: if a budget is not a number.
            AttributeError: if it is not a mapping of mappings.
        """
        self._functions = {
            str(function): _Covered(
                str(covered.get("source", "")),
                {str(name): float(spent) for name, spent in covered.get("budgets", {}).items()},
            )
            for function, covered in (stored or {}).items()
        }

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Return the digest of the file and the seconds of the largest budgets, by function."""
        return {
            function: {"source": covered.source, "budgets": dict(sorted(covered.budgets_s.items()))}
            for function, covered in sorted(self._functions.items())
        }

    def note(
        self, functions: Mapping[str, str], targets: Iterable[TargetSummary], budget_s: float
    ) -> None:
        """Record the functions of a run that wrote the baseline.

        Args:
            functions: reasons why functions or programs were not tested; empty for the tested.
            targets: the targets of the run.
            budget_s: the budget of the run in seconds.
        """
        versions = [*map(_version, targets)]
        for function, reason in functions.items():
            source = _source_of(function)
            covered = self._functions.get(function)
            if covered is None or covered.source != source:
                covered = self._functions[function] = _Covered(source)
            for version in versions if not reason else ():
                covered.budgets_s[version] = max(budget_s, covered.budgets_s.get(version, 0.0))

    def is_clean(self, function: str, versions: Collection[str], budget_s: float) -> bool:
        """Return whether a defect of a function would be in the baseline if it were older.

        The function's file has changed since the baseline tested the function with each version,
        for at least as long as this run; or the baseline tested others with these versions, and
        does not know the file.

        Args:
            function: the function, which the baseline has no bucket of the defect of.
            versions: the versions of the library on which the base shows the defect.
            budget_s: the budget of this run in seconds.
        """
        program, source = _program_of(function), _source_of(function)
        of_program = [c for name, c in self._functions.items() if _program_of(name) == program]
        if not versions or any(covered.source in {"", source} for covered in of_program):
            return False
        if function in self._functions:
            spent_s = self._functions[function].budgets_s
            return all(budget_s <= spent_s.get(name, 0.0) for name in versions)
        tested = {version for covered in self._functions.values() for version in covered.budgets_s}
        has_failed = program in self._functions  # an import that fails is noted by its file
        return not has_failed and tested.issuperset(versions)


def _program_of(function: str) -> str:
    """Return the path of the file in a name `path/to/module.py:function`."""
    return function.partition(":")[0]


def _source_of(function: str) -> str:
    """Return a digest of a function's file; empty if it is no readable file of the checkout.

    A merge has the names from the results of other machines.
    """
    try:
        path = Path(_program_of(function)).resolve()
        is_own = path.is_relative_to(Path.cwd().resolve()) and path.is_file()
        if not is_own or path.stat().st_size > _MAX_SOURCE_BYTES:
            return ""
        content = path.read_bytes()
    except (OSError, ValueError):
        return ""
    return hashlib.sha256(content).hexdigest()[:_DIGEST_LENGTH]


def added_by_change(
    buckets: Iterable[Bucket],
    covered: CoveredFunctions,
    base: Iterable[TargetSummary],
    shown_on: Mapping[str, Collection[tuple[str, ...]]],
    budget_s: float,
) -> frozenset[str]:
    """Return the fingerprints of new buckets that a change of the user's functions added.

    Args:
        buckets: the buckets after the comparison with the baseline.
        covered: what the baseline has tested.
        base: the targets of the base.
        shown_on: the targets of each finding in a bucket, by fingerprint.
        budget_s: the budget of this run in seconds.
    """
    versions = {target.name: _version(target) for target in base}

    def is_added(bucket: Bucket) -> bool:
        names = {name for targets in shown_on.get(bucket.fingerprint, ()) for name in targets}
        on_base = {versions[name] for name in (*names, *bucket.finding.targets) if name in versions}
        return covered.is_clean(bucket.finding.api, on_base, budget_s)

    return frozenset(
        bucket.fingerprint
        for bucket in buckets
        if bucket.comparison is Comparison.NEW
        and bucket.finding.case.is_user_code
        and is_added(bucket)
    )


def _version(target: TargetSummary) -> str:
    """Return library and version of a target without the name of its build, such as `+cpu`."""
    return f"{target.library} {target.version.partition('+')[0]}"
