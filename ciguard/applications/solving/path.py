"""The way that one answer takes through a function: which conditions it met, and how."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import z3

from ciguard.applications.solving.terms import Sym, Unknown

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Sequence

    from ciguard.applications.finding.conditions import Goal
    from ciguard.applications.solving.terms import Scalar, Term

_MAX_STEPS = 20_000
Choices = dict[tuple[Any, ...], bool]
"""How conditions are to turn out of which nothing is known: by where, and the how manieth time."""


class TooLongError(Exception):
    """More is done than is followed."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A condition that may turn out otherwise."""

    key: tuple[Any, ...]
    """Where, and how it is to turn out."""
    terms: tuple[Term, ...]
    """What must hold besides what held before."""
    before: int
    """How many of the path's terms that is."""
    goal: Goal | None = None
    choices: Choices = field(default_factory=dict)
    raises: bool = False
    """Whether Python may raise then."""


class Path:
    """What was met on it."""

    def __init__(self, choices: Choices, deadline: float) -> None:
        self.terms: list[Term] = []
        """What held, one after the other."""
        self.turns: list[Turn] = []
        self.outcomes: set[tuple[Goal, bool]] = set()
        self.made: dict[str, tuple[Term, Scalar]] = {}
        """Parts that values were taken into: variable and value now, by name."""
        self.line = 0
        """Of the statement that is followed."""
        self._choices = choices
        self._deadline = deadline
        self._times: Counter[tuple[Any, ...]] = Counter()
        self._under: list[Sym] = []
        self._steps = 0

    def step(self) -> None:
        """Count one thing that is done.

        Raises:
            TooLongError: if there were too many.
        """
        self._steps += 1
        if self._steps > _MAX_STEPS or (
            not self._steps % 100 and time.monotonic() > self._deadline
        ):
            raise TooLongError

    def fresh(self, sort: Any, present: Scalar) -> Term:
        """Return a new variable for a part of a value."""
        name = f"part{len(self.made)}"
        term = z3.Const(name, sort)
        self.made[name] = (term, present)
        return term

    @contextmanager
    def under(self, truth: Any) -> Iterator[None]:
        """Note what is met from here on as something that is only looked at where this is true."""
        if not isinstance(truth, Sym):
            yield
            return
        self._under.append(truth)
        try:
            yield
        finally:
            self._under.pop()

    def note(self, goal: Goal, truth: Any) -> None:
        """Note how a sub-condition turned out, and what would turn it."""
        is_looked_at = all(one.now for one in self._under)
        if is_looked_at and not isinstance(truth, Unknown):
            self.outcomes.add((goal, bool(truth.now if isinstance(truth, Sym) else truth)))
        if isinstance(truth, Sym):
            for outcome in (True, False):
                if not is_looked_at or bool(truth.now) is not outcome:
                    self._turn((goal, outcome), _turned(truth, outcome=outcome), goal)

    def offer(self, truth: Any, node: ast.AST) -> None:
        """Note that something may turn out otherwise, though nothing here depends on it."""
        if isinstance(truth, Sym):
            outcome = not truth.now
            key = (*_place(node), outcome)
            self._turn(key, _turned(truth, outcome=outcome), None)

    def decide(self, truth: Any, node: ast.AST) -> bool:
        """Return how a condition turns out, and note that it may turn out otherwise."""
        place = _place(node)
        if isinstance(truth, Unknown):
            return self._choose(place)
        if not isinstance(truth, Sym):
            return bool(truth)
        outcome = bool(truth.now)
        self._turn((*place, not outcome), _turned(truth, outcome=not outcome), None)
        if not self._under:
            held = truth.term if outcome else z3.Not(truth.term)
            self.terms += [held, *(need.term for need in truth.needs if need.holds)]
        return outcome

    def check(self, truth: Any, node: ast.AST) -> bool:
        """Return how a condition turns out without which, or with which, Python raises."""
        begun = len(self.turns)
        outcome = self.decide(truth, node)
        self.turns[begun:] = [replace(turn, raises=True) for turn in self.turns[begun:]]
        return outcome

    def _choose(self, place: tuple[int, int]) -> bool:
        """Return how to go on where nothing is known: first as if it were false."""
        self._times[place] += 1
        here = (*place, self._times[place])
        if here in self._choices:
            return self._choices[here]
        choices = {**self._choices, here: True}
        self.turns.append(Turn((*place, True), (), len(self.terms), None, choices))
        self._choices[here] = False
        return False

    def _turn(self, key: tuple[Any, ...], terms: Sequence[Term], goal: Goal | None) -> None:
        around = [term for one in self._under for term in _turned(one, outcome=True)]
        turn = Turn(key, (*around, *terms), len(self.terms), goal, dict(self._choices))
        self.turns.append(turn)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _turned(truth: Sym, *, outcome: bool) -> list[Term]:
    term = truth.term if outcome else z3.Not(truth.term)
    return [term, *(need.term for need in truth.needs)]
