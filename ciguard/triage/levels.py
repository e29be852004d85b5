"""The protocol between triage and levels: scripts, descriptions and simpler variants of cases.

`PresentableLevel` is the protocol, and `PresentationDefaults` has default methods for it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, runtime_checkable

from ciguard.domain.case import Case, OpaqueCase
from ciguard.errors import RegistrationError
from ciguard.levels import LEVELS
from ciguard.oracles import JudgedLevel, JudgingDefaults
from ciguard.triage.quoted import texts_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import ScriptResult
    from ciguard.triage.hint import EnvironmentHint
    from ciguard.triage.origins import LayerOrigin, TreeOrigin
    from ciguard.triage.text_diff import DiffLine

C = TypeVar("C", bound=Case)


@runtime_checkable
class PresentableLevel(JudgedLevel, Protocol):
    """A level that presents its cases to users."""

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Return a standalone script that shows the finding's defect.

        Raises:
            ValueError: if a name in the case is not a Python name.
        """

    def has_script(self, case: Case) -> bool:
        """Return whether a script can reproduce the defects of a case."""

    def shows(self, finding: Finding, result: ScriptResult) -> bool | None:
        """Return whether the result of a script shows the finding.

        Return None if the outcome of the script's process decides.
        """

    def mark(self, finding: Finding) -> str:
        """Return the beginning of the line that a script prints if it shows the defect.

        It is empty if the oracle's traits or the script's exit status decide.
        """

    def is_shown_by(self, finding: Finding, outcome: Outcome) -> bool | None:
        """Return whether a single outcome shows a finding; None if the finding's oracle decides."""

    def variants(self, case: Case) -> Iterator[Case]:
        """Yield variants of a case, each of which omits or simplifies one part."""

    def claim(self, finding: Finding) -> tuple[str, str] | None:
        """Return the defect as words that follow the API's name, and a text to quote after them.

        Return None if the outcome describes the defect.
        """

    def passed_text(self, case: Case) -> str:
        """Return a predicate for a case that passed, such as `returned a result`."""

    def subject(self, case: Case, api: str) -> str:
        """Return a subject of a sentence about a case, such as `One call of …`."""

    def tested_part(self, library: str) -> str:
        """Return what the level tests on the targets of a library, as in headings of reports."""

    def origin_rows(self, case: Case, named: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return pairs of a label and a text that describe the origin of a case.

        Args:
            case: a case of this level.
            named: function that escapes a name, which may hold fuzzed text, for display.
        """

    def derivation(self, case: Case, *, context: int, most: int) -> list[DiffLine]:
        """Return the diff from the parent's source to the case's; empty without a parent.

        The arguments have the meaning of those of `derivation_diff`.
        """

    def layer_origin(self, case: Case) -> LayerOrigin | None:
        """Return the model run from which a case was derived; None for cases without a model."""

    def tree_origin(self, case: Case) -> TreeOrigin | None:
        """Return the position of a case in its derivation tree; None for cases without one."""

    def texts_of(self, case: Case) -> tuple[str, ...]:
        """Return all strings of a case that a library's messages may quote."""

    def without_place(self, message: str) -> str:
        """Return a message without its leading location, which differs between runs."""

    def readable(self, case: Case) -> Case:
        """Return the case without the parts that a reader can ignore."""


class PresentationDefaults(JudgingDefaults[C]):
    """Default methods for levels whose cases have neither an origin nor simpler variants."""

    def has_script(self, case: C) -> bool:
        """Return True: a script can reproduce all defects."""
        del case
        return True

    def shows(self, finding: Finding, result: ScriptResult) -> bool | None:
        """Return None: the outcome of the script decides."""
        del finding, result
        return None

    def mark(self, finding: Finding) -> str:
        """Return an empty string: the oracle's traits decide."""
        del finding
        return ""

    def is_shown_by(self, finding: Finding, outcome: Outcome) -> bool | None:
        """Return None: the oracle decides."""
        del finding, outcome
        return None

    def claim(self, finding: Finding) -> tuple[str, str] | None:
        """Return None: the outcome describes the defect."""
        del finding
        return None

    def passed_text(self, case: C) -> str:
        """Return `returned a result`."""
        del case
        return "returned a result"

    def variants(self, case: C) -> Iterator[C]:
        """Yield nothing: the level tests its simplest cases first."""
        del case
        yield from ()

    def subject(self, case: C, api: str) -> str:
        """Return `One call of …`, with the noun of the case."""
        return f"One {case.noun} of {api}"

    def tested_part(self, library: str) -> str:
        """Return the name of the library."""
        return library

    def origin_rows(self, case: C, named: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return an empty list: the seed alone determines the case."""
        del case, named
        return []

    def derivation(self, case: C, *, context: int, most: int) -> list[DiffLine]:
        """Return an empty diff: the case has no parent."""
        del case, context, most
        return []

    def layer_origin(self, case: C) -> LayerOrigin | None:
        """Return None: the case has no model."""
        del case
        return None

    def tree_origin(self, case: C) -> TreeOrigin | None:
        """Return None: the case has no derivation tree."""
        del case
        return None

    def texts_of(self, case: C) -> tuple[str, ...]:
        """Return all strings in the case's values."""
        return texts_in(case.values)

    def without_place(self, message: str) -> str:
        """Return the message itself, which has no location if it comes from a library."""
        return message

    def readable(self, case: C) -> C:
        """Return the case itself, because a reader needs all its parts."""
        return case


class _UnknownLevel(PresentationDefaults[Case]):
    """Stand-in for the level of a case if that level is not installed."""

    name: ClassVar[str] = "(not installed)"

    def has_script(self, case: Case) -> bool:
        """Return False: only the missing package can run the case."""
        del case
        return False

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Raise a ValueError: only the missing package can run the case."""
        del hint
        msg = (
            f"no installed package provides level {finding.case.level!r}, so its cases have "
            "no script. Install the package of this level."
        )
        raise ValueError(msg)


_UNKNOWN_LEVEL = _UnknownLevel()


def presentable(case: Case) -> PresentableLevel:
    """Return the level of a case, or a stand-in if that level is not installed.

    Raises:
        UnknownNameError: if no level has that name.
        RegistrationError: if the level does not implement `PresentableLevel`.
    """
    return _UNKNOWN_LEVEL if isinstance(case, OpaqueCase) else _presentable(case.level)


@cache
def _presentable(name: str) -> PresentableLevel:
    level = LEVELS.get(name)
    if not isinstance(level, PresentableLevel):
        msg = f"level {name!r} ({level!r}) does not implement ciguard.triage.PresentableLevel"
        raise RegistrationError(msg)
    return level


def subject_phrase(case: Case, api: str) -> str:
    """Return a subject of a sentence about a case: `One call of …`, `One program with …`."""
    return presentable(case).subject(case, api)


def tested_part(finding: Finding) -> str:
    """Return what a finding's case tests: its library, or a part of the user's project."""
    return presentable(finding.case).tested_part(finding.library)


def origin_rows(case: Case, named: Callable[[str], str] = str) -> list[tuple[str, str]]:
    """Return pairs of a label and a text that describe the origin of a case.

    See `PresentableLevel.origin_rows`.
    """
    return presentable(case).origin_rows(case, named)


def derivation_diff(case: Case, *, context: int = 2, most: int = 60) -> list[DiffLine]:
    """Return the diff from the parent's source to the case's; empty if the parent is unknown.

    Args:
        case: a case of any level. Only complete programs can have a known parent.
        context: number of unchanged lines around each change.
        most: maximum number of lines, not counting the last line "N more lines".
    """
    return presentable(case).derivation(case, context=context, most=most)
