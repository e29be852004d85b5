"""What triage asks of a level: its cases as scripts, in words, and made simpler."""

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
    """A level whose cases people can read and run; see `PresentationDefaults` for plain ones."""

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Return a standalone script that fails as the finding did.

        Raises:
            ValueError: if a name in the case is not a Python name.
        """

    def has_script(self, case: Case) -> bool:
        """Return whether a script can show what is found with a case."""

    def shows(self, finding: Finding, result: ScriptResult) -> bool | None:
        """Return whether a script ended as the finding did; None if its outcome tells."""

    def mark(self, finding: Finding) -> str:
        """Return what a script prints when the defect shows; empty if its oracle or end tells."""

    def is_shown_by(self, finding: Finding, outcome: Outcome) -> bool | None:
        """Return whether one outcome shows a finding by itself; None if its oracle tells."""

    def variants(self, case: Case) -> Iterator[Case]:
        """Yield cases that leave one thing out, or make one thing plainer."""

    def claim(self, finding: Finding) -> tuple[str, str] | None:
        """Return what happened as words behind the API's name, and as a quoted text.

        None if the outcome tells.
        """

    def passed_text(self, case: Case) -> str:
        """Return what a case that passed has done: `returned a result`."""

    def subject(self, case: Case, api: str) -> str:
        """Return the case as the subject of a sentence: `One call of …`."""

    def origin_rows(self, case: Case, named: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return where a case comes from, and what of it was looked at.

        Args:
            case: of this level.
            named: makes a name, which may hold fuzzed text, fit for where the rows are shown.
        """

    def derivation(self, case: Case, *, context: int, most: int) -> list[DiffLine]:
        """Return what the text of a case has otherwise than its parent's; nothing if unknown."""

    def layer_origin(self, case: Case) -> LayerOrigin | None:
        """Return the layers of the model that led to a case; None if no model did."""

    def tree_origin(self, case: Case) -> TreeOrigin | None:
        """Return the place of a case in the tree that it was grown in; None if in none."""

    def texts_of(self, case: Case) -> tuple[str, ...]:
        """Return every text that messages may quote back."""

    def without_place(self, message: str) -> str:
        """Return a message without the place that it begins with, which changes from run to run."""

    def readable(self, case: Case) -> Case:
        """Return the case without what nobody has to read."""


class PresentationDefaults(JudgingDefaults[C]):
    """Cases that come from nowhere and have no simpler variants."""

    def has_script(self, case: C) -> bool:
        """Return that a script can show everything."""
        del case
        return True

    def shows(self, finding: Finding, result: ScriptResult) -> bool | None:
        """Return None: the outcome tells how a script ends."""
        del finding, result
        return None

    def mark(self, finding: Finding) -> str:
        """Return that a script has nothing to print beside what its oracle asks for."""
        del finding
        return ""

    def is_shown_by(self, finding: Finding, outcome: Outcome) -> bool | None:
        """Return None: the oracle tells."""
        del finding, outcome
        return None

    def claim(self, finding: Finding) -> tuple[str, str] | None:
        """Return None: the outcome tells what happened."""
        del finding
        return None

    def passed_text(self, case: C) -> str:
        """Return `returned a result`."""
        del case
        return "returned a result"

    def variants(self, case: C) -> Iterator[C]:
        """Yield nothing: the plainest cases are tried first."""
        del case
        yield from ()

    def subject(self, case: C, api: str) -> str:
        """Return `One call of …`, with the noun of the case."""
        return f"One {case.noun} of {api}"

    def origin_rows(self, case: C, named: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return nothing: the case comes from the seed alone."""
        del case, named
        return []

    def derivation(self, case: C, *, context: int, most: int) -> list[DiffLine]:
        """Return nothing: the case has no parent."""
        del case, context, most
        return []

    def layer_origin(self, case: C) -> LayerOrigin | None:
        """Return None: no model led to the case."""
        del case
        return None

    def tree_origin(self, case: C) -> TreeOrigin | None:
        """Return None: the case was grown in no tree."""
        del case
        return None

    def texts_of(self, case: C) -> tuple[str, ...]:
        """Return every string among the values."""
        return texts_in(case.values)

    def without_place(self, message: str) -> str:
        """Return the message: a library's has no place."""
        return message

    def readable(self, case: C) -> C:
        """Return the case: all of it is to be read."""
        return case


class _NotInstalled(PresentationDefaults[Case]):
    """The level of cases that nothing installed can read."""

    name: ClassVar[str] = "(not installed)"

    def has_script(self, case: Case) -> bool:
        """Return that nothing is known of how to run it."""
        del case
        return False

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Raise a ValueError: nothing is known of how to run the case."""
        del hint
        msg = f"a case of kind {finding.case.level!r}, of a package that is not installed here"
        raise ValueError(msg)


_NOT_INSTALLED = _NotInstalled()


def presentable(case: Case) -> PresentableLevel:
    """Return the level of a case; one that can do nothing if that is not installed.

    Raises:
        UnknownNameError: if there is none of that name.
        RegistrationError: if its cases cannot be presented.
    """
    return _NOT_INSTALLED if isinstance(case, OpaqueCase) else _presentable(case.level)


@cache
def _presentable(name: str) -> PresentableLevel:
    level = LEVELS.get(name)
    if not isinstance(level, PresentableLevel):
        msg = f"level {name!r} ({level!r}) does not fulfil ciguard.triage.PresentableLevel"
        raise RegistrationError(msg)
    return level


def one_of(case: Case, api: str) -> str:
    """Return a case as the subject of a sentence: `One call of …`, `One program with …`."""
    return presentable(case).subject(case, api)


def origin_rows(case: Case, named: Callable[[str], str] = str) -> list[tuple[str, str]]:
    """Return where a case comes from, and what of it was looked at; see `PresentableLevel`."""
    return presentable(case).origin_rows(case, named)


def derivation_diff(case: Case, *, context: int = 2, most: int = 60) -> list[DiffLine]:
    """Return what the text of a case has otherwise than its parent's; nothing if that is unknown.

    Args:
        case: of any level; only of whole programs a parent is known.
        context: lines around each change that both have.
        most: lines that are returned at most; how many more there are is said in one more.
    """
    return presentable(case).derivation(case, context=context, most=most)
