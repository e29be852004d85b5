"""Asks z3 for answers that turn what no answer turned yet, and follows where each leads."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import z3

from ciguard.applications.solving.answers import (
    MAX_RESULTS,
    Answers,
    Recognised,
    is_solved_for,
    least_results,
)
from ciguard.applications.solving.following import follow
from ciguard.applications.solving.path import Path, TooLongError, Turn
from ciguard.applications.solving.symbols import Symbols
from ciguard.applications.solving.terms import term_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ciguard.applications.finding.application import Application
    from ciguard.applications.finding.conditions import Goal
    from ciguard.applications.finding.findings import Found
    from ciguard.applications.providers.description import Operation
    from ciguard.applications.solving.path import Choices
    from ciguard.applications.solving.symbols import Assignment
    from ciguard.applications.solving.terms import Scalar, Term

    Outcome = tuple[Goal, bool]

Proposal = dict["Operation", tuple[Recognised, ...]]
"""What each operation is to answer."""
_LIMIT_MS = 1_000
_ROOM = z3.Q(1, 200)
"""Numbers are to differ by so much, if they may: what a service answers is not that exact."""
_MAX_RELAXED = 12
_MAX_TRIED = 6
"""Answers for one outcome that come to something else than what was solved for."""
_MAX_WAITING = 4_000
_MAX_IN_VAIN = 100
"""Paths, one after the other, on which nothing is met that is wanted."""
_MAX_AFTER = 25
_AFTER_S = 1.5
"""The same, and how long, when only exceptions are looked for."""


@dataclass(frozen=True, slots=True)
class _Task:
    """Something to solve for."""

    terms: tuple[Term, ...] = ()
    turned: tuple[Term, ...] = ()
    known: Mapping[str, tuple[Term, Scalar]] = field(default_factory=dict)
    """What symbols and parts were on the path that it turns off from."""
    domain: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)
    """Within what symbols are."""
    assignment: Assignment = field(default_factory=dict)
    choices: Choices = field(default_factory=dict)


class Search:
    """For answers that turn conditions of one function."""

    def __init__(
        self,
        application: Application,
        found: Found,
        wanted: Callable[[], set[Outcome]],
        raised: Iterable[tuple[str, int]] = (),
    ) -> None:
        """Prepare it.

        Args:
            application: as read.
            found: the function.
            wanted: says which outcomes of its sub-conditions were not met yet.
            raised: exceptions that are known already, and their lines.
        """
        self._application = application
        self._found = found
        self._wanted = wanted
        asked = dict.fromkeys(call.answer.operation for call in found.calls)
        self._operations = list(filter(is_solved_for, asked))
        self._waiting: list[tuple[tuple[int, ...], int, _Task]] = []
        self._counter = itertools.count()
        self._met: Counter[Any] = Counter()
        """How often each turn was tried."""
        self._tried: Counter[Outcome] = Counter()
        self._raised = {f"{name} {line}" for name, line in raised}
        """What was raised, and where."""
        self._names = _Names()
        self._symbols, self._path = Symbols({}), Path({}, 0.0)
        """Of the last answer that was followed."""

    def proposals(self, seconds: float) -> Iterator[Proposal]:
        """Yield answers that are to bring about what is wanted, or exceptions that none did yet.

        Args:
            seconds: after which it ends.
        """
        deadline = time.monotonic() + seconds
        for size in self._sizes():
            begun: Assignment = {
                f"{one.name}.count": max(size, least_results(one))
                for one in self._operations
                if one.records
            }
            self._put(_Task(assignment=begun), (0, 0))
        seen: set[tuple[Any, ...]] = set()
        in_vain, is_done = 0, False
        while self._waiting and time.monotonic() < deadline:
            if not self._left() and not is_done:
                is_done, deadline = True, min(deadline, time.monotonic() + _AFTER_S)
            if in_vain >= (_MAX_AFTER if is_done else _MAX_IN_VAIN):
                return
            _, _, task = heapq.heappop(self._waiting)
            values = _solved(task, self._names) if task.turned else task.assignment
            if values is None or (key := (_key(values), _key_of(task.choices))) in seen:
                continue
            seen.add(key)
            proposal = self._followed(task, values, deadline)
            in_vain = 0 if proposal else in_vain + 1
            if proposal:
                yield proposal
            self._turn_off(values)

    def _left(self) -> set[Outcome]:
        return {one for one in self._wanted() if self._tried[one] < _MAX_TRIED}

    def _sizes(self) -> list[int]:
        """Return how many results answers have to begin with: those that numbers speak of too."""
        numbers = [
            literal
            for one in self._found.goals
            if one.goal.test is not None
            for literal in one.goal.test.literals
            if isinstance(literal, int) and 0 < literal < MAX_RESULTS
        ]
        beside = [number + more for number in numbers for more in (0, 1)]
        return list(dict.fromkeys((2, 1, 0, 4, *beside)))

    def _put(self, task: _Task, rank: tuple[int, ...]) -> None:
        if len(self._waiting) < _MAX_WAITING:
            heapq.heappush(self._waiting, (rank, next(self._counter), task))

    def _followed(self, task: _Task, assignment: Assignment, deadline: float) -> Proposal:
        """Follow an answer, and return it if it is to bring about what is wanted."""
        self._symbols = Symbols(assignment)
        answers = Answers(self._symbols)
        self._path = Path(dict(task.choices), deadline)
        raised = ""
        # Where it is followed no further, what was met until then counts.
        with contextlib.suppress(TooLongError, RecursionError):
            raised = follow(self._application, self._found, answers, self._path)
        promised = self._path.outcomes & self._left()
        self._tried.update(promised)
        if not promised and (not raised or raised in self._raised):
            return {}
        self._raised.add(raised)
        return {one: answers.recognised(one) for one in self._operations}

    def _turn_off(self, assignment: Assignment) -> None:
        """Put all in line that would turn a condition of the last path."""
        symbols, path, left = self._symbols, self._path, self._left()
        known = {name: (one.term, one.now) for name, one in symbols.made.items()} | path.made
        domain = {name: one.domain for name, one in symbols.made.items()}
        for turn in path.turns:
            terms = (*symbols.held, *path.terms[: turn.before])
            task = _Task(terms, turn.terms, known, domain, assignment, turn.choices)
            self._put(task, self._rank(turn, left))

    def _rank(self, turn: Turn, left: set[Outcome]) -> tuple[int, ...]:
        """Return how soon to try: what is wanted first, then what was tried least."""
        is_wanted = turn.raises or (turn.goal is not None and (turn.goal, turn.key[1]) in left)
        self._met[turn.key] += 1
        return self._met[turn.key] + (0 if is_wanted else 1), turn.before


def _key(assignment: Assignment) -> tuple[Any, ...]:
    return tuple(sorted(assignment.items()))


def _key_of(choices: Choices) -> tuple[Any, ...]:
    return tuple(sorted(choices.items()))


# --- z3 -------------------------------------------------------------------------------------------


def _solved(task: _Task, names: _Names) -> Assignment | None:
    """Return values with which a path turns off where it is to; None if there are none."""
    terms, sought = _connected(task.terms, task.turned, names.of)
    known = {name: task.known[name] for name in sorted(sought) if name in task.known}
    domain = [term for name in known for term in task.domain.get(name, ())]
    for several in ([_roomy(one) for one in terms], terms):
        solver = z3.Solver()
        solver.set("timeout", _LIMIT_MS)
        solver.add(*domain, *several)
        said = _checked(solver)
        if said == z3.unknown:
            return None
        if said == z3.sat:
            model = _nearest(solver, known)
            read = {
                name: _value(model.eval(term, model_completion=True), before)
                for name, (term, before) in known.items()
                if name in task.domain
            }
            return {**task.assignment, **read}
    return None


def _connected(
    held: Sequence[Term], turned: Sequence[Term], names_in: Callable[[Term], frozenset[str]]
) -> tuple[list[Term], set[str]]:
    """Return what is turned and what held before of the same variables, and the names of these.

    What held of others holds still: they stay as they are.
    """
    found = {one.get_id(): one for one in turned}
    names = set().union(*map(names_in, found.values()))
    waiting = {one.get_id(): (one, names_in(one)) for one in held}
    while more := [key for key, (_, own) in waiting.items() if own & names]:
        for key in more:
            found[key], own = waiting.pop(key)
            names |= own
    return list(found.values()), names


class _Names:
    """Tells which variables are in a term; it is asked of the same ones again and again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Term, frozenset[str]]] = {}
        """By number, which z3 gives to another term when nobody holds this one."""

    def of(self, term: Term) -> frozenset[str]:
        """Return the names of all variables in a term."""
        number = term.get_id()
        if number not in self._known:
            self._known[number] = term, frozenset(_names_in(term))
        return self._known[number][1]


def _names_in(term: Term) -> set[str]:
    found: set[str] = set()
    waiting, seen = [term], set()
    while waiting:
        one = waiting.pop()
        if one.get_id() in seen:
            continue
        seen.add(one.get_id())
        if z3.is_const(one) and one.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found.add(str(one.decl().name()))
        waiting += one.children()
    return found


def _checked(solver: Any, *assumed: Term) -> Any:
    """Return what z3 says, and see to it that it says something: not all of it heeds the limit."""
    timer = threading.Timer(2 * _LIMIT_MS / 1000, z3.main_ctx().interrupt)
    timer.start()
    try:
        return solver.check(*assumed)
    except z3.Z3Exception:
        return z3.unknown
    finally:
        timer.cancel()
        timer.join()


def _nearest(solver: Any, known: Mapping[str, tuple[Term, Scalar]]) -> Any:
    """Return a model that leaves most as it was, of a solver that has found one."""
    model = solver.model()
    same = {f"same {name}": term == term_of(value) for name, (term, value) in known.items()}
    for title, equal in same.items():
        solver.add(z3.Implies(z3.Bool(title), equal))
    kept = dict.fromkeys(same)
    for _ in range(_MAX_RELAXED):
        said = _checked(solver, *map(z3.Bool, kept))
        if said == z3.sat:
            return solver.model()
        core = [str(one).strip("|") for one in solver.unsat_core()] if said == z3.unsat else []
        if not core:
            return model
        # How many results there are changes last.
        fields = [one for one in core if not one.endswith(".count")]
        for one in fields or core:
            kept.pop(one)
    return model


def _roomy(term: Term, *, is_denied: bool = False) -> Term:
    """Return a condition whose numbers differ by more than they need to."""
    kind = term.decl().kind()
    children = term.children()
    if kind == z3.Z3_OP_NOT:
        return z3.Not(_roomy(children[0], is_denied=not is_denied))
    if kind in {z3.Z3_OP_AND, z3.Z3_OP_OR}:
        inner = [_roomy(one, is_denied=is_denied) for one in children]
        return z3.And(*inner) if kind == z3.Z3_OP_AND else z3.Or(*inner)
    if kind not in _ORDERS or not z3.is_real(children[0]):
        return term
    is_less = kind in {z3.Z3_OP_LE, z3.Z3_OP_LT}
    less, more = children if is_less else children[::-1]
    room = -_ROOM if is_denied else _ROOM
    strict = kind in {z3.Z3_OP_LT, z3.Z3_OP_GT}
    return less + room < more if strict else less + room <= more


_ORDERS = frozenset({z3.Z3_OP_LE, z3.Z3_OP_LT, z3.Z3_OP_GE, z3.Z3_OP_GT})
_ESCAPED = re.compile(r"\\u\{([0-9a-fA-F]+)\}")


def _value(term: Term, before: Scalar) -> Scalar:
    """Return a value of a model."""
    if z3.is_string_value(term):
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), term.as_string())
    if z3.is_true(term) or z3.is_false(term):
        return bool(z3.is_true(term))
    if z3.is_int_value(term):
        return int(term.as_long())
    if z3.is_rational_value(term):
        return float(term.as_fraction())
    if z3.is_algebraic_value(term):
        return float(term.approx(10).as_fraction())
    return before
