"""The fingerprint: one name for one root cause, the same in every run and on every machine.

It is a digest of the ingredients in `Fingerprint.grouping`, which say why two findings are one bug.
Ingredients never hold a target's version, a seed, a value or a bare signal number.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Errored, Rejected
from ciguard.libraries import LIBRARIES
from ciguard.oracles import traits_of
from ciguard.triage.levels import presentable
from ciguard.triage.symptom import Symptom, symptom_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Frame, Outcome

_FORM = re.compile(r"v[1-9]\d{0,3}:[0-9a-f]{16}")

Grouping: TypeAlias = tuple[tuple[str, str], ...]

_WRAPPERS = frozenset(
    {
        ("dispatch.py", "op_dispatch_handler"),
        ("dispatch.py", "wrapper"),
        ("execute.py", "quick_execute"),
        ("execute.py", "execute"),
        ("ops.py", "raise_from_not_ok_status"),
        ("tf_export.py", "wrapper"),
        ("traceback_utils.py", "error_handler"),
        ("_ops.py", "__call__"),
        ("module.py", "_call_impl"),
        ("module.py", "_wrapped_call_impl"),
        ("_contextlib.py", "decorate_context"),
        ("_tensor.py", "wrapped"),
        ("deprecation.py", "new_func"),
    }
)
"""(file, function) that stand between any API and any operator: they say nothing of the defect."""
_EAGER = re.compile(r"_eager_fallback$|_ctx$|_fallback$")
"""Variants of one TensorFlow operator's wrapper: the values of a call decide which of them runs."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The name of a root cause, and why."""

    key: str
    """`v1:` and 16 hex digits."""
    grouping: Grouping
    """(ingredient, text) pairs in order."""
    aliases: tuple[str, ...] = ()
    """The keys that older recipes give the same finding, so that what is known stays known."""


def is_fingerprint(text: str) -> bool:
    """Return whether `text` has the form of a fingerprint's key. Only such text names files."""
    return _FORM.fullmatch(text) is not None


def recipe_number(key: str) -> int:
    """Return the number of the recipe that a fingerprint's key was made by."""
    return int(key.partition(":")[0].removeprefix("v"))


def newest_recipe() -> int:
    """Return the number of the recipe that fingerprints are made by."""
    return max(map(recipe_number, RECIPES))


def fingerprint(finding: Finding) -> Fingerprint:
    """Return the fingerprint of a finding by the newest recipe, with those by the older ones."""
    *older, newest = sorted(RECIPES, key=recipe_number)
    grouping = RECIPES[newest](finding)
    aliases = (_key(recipe, RECIPES[recipe](finding)) for recipe in older)
    return Fingerprint(_key(newest, grouping), grouping, tuple(aliases))


def _key(recipe: str, grouping: Grouping) -> str:
    canonical = json.dumps([recipe, grouping], ensure_ascii=True, separators=(",", ":"))
    return f"{recipe}:{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"


def _first_recipe(finding: Finding) -> Grouping:
    return tuple(
        (name, text)
        for name, text in (
            ("library", "" if traits_of(finding.oracle).ignores_library else finding.library),
            ("api", finding.api),
            *_of_finding(finding),
        )
        if text
    )


def _of_finding(finding: Finding) -> Iterator[tuple[str, str]]:
    if traits_of(finding.oracle).is_of_user:
        return _of_function(finding)
    return _of_pair(finding) if _is_differential(finding) else _of_defect(finding)


def _of_function(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield how a function of the user's fails, and the innermost function of the user's there."""
    outcome = finding.outcomes.get(finding.targets[-1]) if finding.targets else None
    yield "oracle", finding.oracle
    yield "symptom", finding.kind
    yield "pair", finding.pair.value
    yield "frame", finding.detail
    if isinstance(outcome, Errored):
        yield "message", _symptom_in(finding.case, outcome).text


RECIPES: Final[dict[str, Callable[[Finding], Grouping]]] = {"v1": _first_recipe}
"""By name. A change that gives a known finding another key is a new recipe, under the next number;
the older ones stay as they were for as long as baselines with their keys are about."""


def same_symptom(one: Finding, other: Finding) -> bool:
    """Return whether two findings show the same death or error, whatever call led there."""
    symptoms = [
        _symptom_in(finding.case, outcome)
        for finding in (one, other)
        if (outcome := _evidence(finding)) is not None
    ]
    if len(symptoms) < 2 or symptoms[0].name in _ORDINARY:  # noqa: PLR2004 - both
        return False
    first, second = symptoms
    return (first.name, first.text) == (second.name, second.text)


def _is_differential(finding: Finding) -> bool:
    return finding.pair is not PairKind.NONE


def _of_defect(finding: Finding) -> Iterator[tuple[str, str]]:
    outcome = _evidence(finding)
    symptom = Symptom("") if outcome is None else _symptom_in(finding.case, outcome)
    if symptom.name in _ORDINARY:
        # The outcome is an ordinary one: only the oracle's own class says what is wrong with it.
        yield "oracle", finding.oracle
        yield "symptom", finding.kind
        yield "detail", finding.detail
    else:
        yield "symptom", symptom.name
    yield "message", symptom.text
    yield "stack", _stack_text(finding, outcome, frames=symptom.frames)


def _of_pair(finding: Finding) -> Iterator[tuple[str, str]]:
    yield "oracle", finding.oracle
    yield "symptom", finding.kind
    yield "pair", finding.pair.value
    symptoms = [
        _symptom_in(finding.case, finding.outcomes[target])
        for target in finding.targets
        if target in finding.outcomes
    ]
    yield "detail", finding.detail
    if len({symptom.name for symptom in symptoms}) > 1:
        yield "statuses", " → ".join(symptom.name for symptom in symptoms)
        yield "message", " | ".join(symptom.text for symptom in symptoms if symptom.text)


def _symptom_in(case: Case, outcome: Outcome) -> Symptom:
    """Return what an outcome shows, without the place, which differs from case to case."""
    level = presentable(case)
    if isinstance(outcome, Rejected | Errored):
        outcome = replace(outcome, message=level.without_place(outcome.message))
    return symptom_of(outcome, fuzzed=level.texts_of(case))


def _evidence(finding: Finding) -> Outcome | None:
    """Return the outcome on the first target that shows the defect."""
    shown = [finding.outcomes[name] for name in finding.targets if name in finding.outcomes]
    return shown[0] if shown else None


def _stack_text(finding: Finding, outcome: Outcome | None, *, frames: tuple[Frame, ...]) -> str:
    # Python raised an error where it says; a native death tells only which operator was running.
    most = _FRAMES_OF_ERROR if isinstance(outcome, Errored) else _FRAMES_OF_DEATH
    own = library_frames(frames, api=finding.api, library=finding.library)
    return " ← ".join(f"{file}:{function}" for file, function in own[:most])


_ORDINARY = frozenset({"", "passed", "rejected"})
"""Symptoms of outcomes that say nothing by themselves."""
_FRAMES_OF_ERROR = 2
_FRAMES_OF_DEATH = 1


def library_frames(
    frames: Iterable[Frame], *, api: str, library: str
) -> tuple[tuple[str, str], ...]:
    """Return (file, function) of the library's own telling frames, innermost first.

    Frames of other packages, of the standard library and of wrappers that every call passes
    through are left out; paths begin at the package, wherever it is installed.
    """
    packages = {library, api.partition(".")[0], *_brought(api)}
    telling = []
    for frame in frames:
        file = _within_package(frame.file, packages)
        function = _EAGER.sub("", frame.function)
        if file and (file.rpartition("/")[2], function) not in _WRAPPERS:
            telling.append((file, function))
    return tuple(dict.fromkeys(telling))


def _brought(api: str) -> list[str]:
    """Return the packages whose API another one brings, as TensorFlow does that of Keras."""
    known = [library for library in LIBRARIES.items().values() if library.brought_as]
    return [library.module for library in known if api.startswith(f"{library.brought_as}.")]


def _within_package(file: str, packages: set[str]) -> str:
    parts = file.replace("\\", "/").split("/")
    if file.startswith(("/", "\\")) or ":" in parts[0]:
        # A source checkout: its folder often has the package's name too; the last is the package.
        starts = [place for place, part in enumerate(parts[:-1]) if part in packages]
        parts = parts[starts[-1] :] if starts else []
    return "/".join(parts) if parts and parts[0] in packages else ""
