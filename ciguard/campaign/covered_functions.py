"""The user's functions that runs which wrote the baseline have tested.

The base of a pull request runs the sources of the head. So it proves no defect of the user's
functions to be older, unlike an earlier run on the default branch that tested a function and did
not find the defect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ciguard.domain.findings import Comparison

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ciguard.domain.findings import Bucket, TargetSummary


class CoveredFunctions:
    """Budgets with which each function was tested, by version of the library."""

    def __init__(self, stored: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Read the JSON form.

        Raises:
            ValueError: if a budget is not a number.
            AttributeError: if it is not a mapping of mappings.
        """
        self._budgets_s: dict[str, dict[str, float]] = {
            str(function): {str(version): float(spent) for version, spent in budgets.items()}
            for function, budgets in (stored or {}).items()
        }

    def to_json(self) -> dict[str, dict[str, float]]:
        """Return the seconds of the largest budget, by function and version."""
        return {
            function: dict(sorted(budgets.items()))
            for function, budgets in sorted(self._budgets_s.items())
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
            budgets = self._budgets_s.setdefault(function, {})
            for version in versions if not reason else ():
                budgets[version] = max(budget_s, budgets.get(version, 0.0))

    def is_clean(self, function: str, versions: Collection[str], budget_s: float) -> bool:
        """Return whether a defect of a function would be in the baseline if it were older.

        The baseline tested the function with each version, for at least as long as this run; or it
        tested others with these versions, and does not know the function, which is new then.

        Args:
            function: the function, which the baseline has no bucket of the defect of.
            versions: the versions of the library on which the base shows the defect.
            budget_s: the budget of this run in seconds.
        """
        program = function.rpartition(":")[0]
        budgets = self._budgets_s.get(function)
        is_added = budgets is None and program not in self._budgets_s  # else, it was not imported
        if is_added:
            tested = {version for spent in self._budgets_s.values() for version in spent}
            return bool(versions) and tested.issuperset(versions)
        spent_s = budgets or {}
        return bool(versions) and all(budget_s <= spent_s.get(name, 0.0) for name in versions)


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
