"""The fingerprint: an identifier of a defect that is equal in all runs and on all machines.

It is a digest of texts, its ingredients, which are equal for all findings of one defect. They never
contain a target's version, a seed, a value or the number of a signal.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Crashed, Errored, Rejected
from ciguard.libraries import LIBRARIES
from ciguard.oracles import traits_of
from ciguard.triage.levels import presentable
from ciguard.triage.symptom import Symptom, symptom_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Frame, Outcome

_FINGERPRINT = re.compile(r"v[1-9]\d{0,3}:[0-9a-f]{16}")

Grouping: TypeAlias = tuple[tuple[str, str], ...]
"""Name and text of each ingredient, in order."""

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
"""File and function of wrappers through which all calls go. They do not identify a defect."""
_WRAPPER_VARIANT = re.compile(r"_eager_fallback$|_ctx$|_fallback$")
"""Suffixes of variants of TensorFlow's wrappers. The arguments decide which variant is called."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The identifier of a defect, and its ingredients."""

    key: str
    """`v1:` and 16 hex digits."""
    grouping: Grouping
    """Name and text of each ingredient, in order."""
    aliases: tuple[str, ...] = ()
    """Keys by older recipes, which old baselines may contain."""


def is_fingerprint(text: str) -> bool:
    """Return whether `text` is a well-formed key, so that it is safe in file names."""
    return _FINGERPRINT.fullmatch(text) is not None


def recipe_number(key: str) -> int:
    """Return the number of the recipe by which a key was computed, such as 1 for `v1:…`."""
    return int(key.partition(":")[0].removeprefix("v"))


def newest_recipe() -> int:
    """Return the number of the recipe for new fingerprints."""
    return max(map(recipe_number, RECIPES))


def fingerprint(finding: Finding) -> Fingerprint:
    """Return the fingerprint of a finding by the newest recipe. Keys by older ones are aliases."""
    *older, newest = sorted(RECIPES, key=recipe_number)
    grouping = RECIPES[newest](finding)
    aliases = (_key(recipe, RECIPES[recipe](finding)) for recipe in older)
    return Fingerprint(_key(newest, grouping), grouping, tuple(aliases))


def _key(recipe: str, grouping: Grouping) -> str:
    canonical = json.dumps([recipe, grouping], ensure_ascii=True, separators=(",", ":"))
    return f"{recipe}:{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"


def _first_recipe(finding: Finding) -> Grouping:
    """Return the ingredients of a finding by recipe `v1`, without empty ones."""
    return tuple(
        (name, text)
        for name, text in (
            ("library", "" if traits_of(finding.oracle).ignores_library else finding.library),
            ("api", finding.api),
            *_ingredients(finding),
        )
        if text
    )


def _ingredients(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield the ingredients that depend on the kind of finding."""
    if traits_of(finding.oracle).tests_user_functions:
        return _function_ingredients(finding)
    return (
        _pair_ingredients(finding) if _is_differential(finding) else _outcome_ingredients(finding)
    )


def _function_ingredients(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield the ingredients for a failure of the user's function."""
    outcome = finding.outcomes.get(finding.targets[-1]) if finding.targets else None
    yield "oracle", finding.oracle
    yield "symptom", finding.kind
    yield "pair", finding.pair.value
    yield "frame", finding.detail
    if isinstance(outcome, Errored):
        source = outcome.stack[0].source if outcome.stack else ""
        # A line that raises is one defect, whatever names and values its messages quote.
        yield "exception", outcome.exception if source else ""
        yield "line", source
        yield "message", "" if source else _symptom_of_outcome(finding.case, outcome).text


RECIPES: Final[dict[str, Callable[[Finding], Grouping]]] = {"v1": _first_recipe}
"""Functions that return the ingredients of a finding, by the name of the recipe. A change that
alters keys needs a new recipe. An old recipe must not change while baselines have its keys."""


def same_symptom(finding: Finding, other: Finding) -> bool:
    """Return whether two findings show the same crash or error, even of different calls."""
    symptoms = [
        _symptom_of_outcome(shown.case, outcome)
        for shown in (finding, other)
        if (outcome := _first_outcome(shown)) is not None
    ]
    if len(symptoms) < 2 or symptoms[0].name in _ORDINARY_SYMPTOMS:  # noqa: PLR2004 - both
        return False
    first, second = symptoms
    return (first.name, first.text) == (second.name, second.text)


def _is_differential(finding: Finding) -> bool:
    return finding.pair is not PairKind.NONE


def _outcome_ingredients(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield the ingredients of a finding about a single outcome."""
    outcome = _first_outcome(finding)
    symptom = Symptom("") if outcome is None else _symptom_of_outcome(finding.case, outcome)
    if symptom.name in _ORDINARY_SYMPTOMS:
        # The outcome alone is not a defect, so only the kind of finding identifies the defect.
        yield "oracle", finding.oracle
        yield "symptom", finding.kind
        yield "detail", finding.detail
    else:
        yield "symptom", symptom.name
        if isinstance(outcome, Crashed) and outcome.is_memory_error:
            yield "detail", finding.detail
    yield "message", symptom.text
    yield "stack", _stack_text(finding, outcome, frames=symptom.frames)


def _pair_ingredients(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield the ingredients of a difference between two targets."""
    yield "oracle", finding.oracle
    yield "symptom", finding.kind
    yield "pair", finding.pair.value
    symptoms = [
        _symptom_of_outcome(finding.case, finding.outcomes[target])
        for target in finding.targets
        if target in finding.outcomes
    ]
    yield "detail", finding.detail
    if len({symptom.name for symptom in symptoms}) > 1:
        yield "statuses", " → ".join(symptom.name for symptom in symptoms)
        yield "message", " | ".join(symptom.text for symptom in symptoms if symptom.text)


def _symptom_of_outcome(case: Case, outcome: Outcome) -> Symptom:
    """Return the symptom of an outcome; the location in its message is removed first."""
    level = presentable(case)
    if isinstance(outcome, Rejected | Errored):
        outcome = replace(outcome, message=level.without_place(outcome.message))
    return symptom_of(outcome, fuzzed=level.texts_of(case))


def _first_outcome(finding: Finding) -> Outcome | None:
    """Return the outcome on the first target that shows the defect; None if it is not stored."""
    shown = [finding.outcomes[name] for name in finding.targets if name in finding.outcomes]
    return shown[0] if shown else None


def _stack_text(finding: Finding, outcome: Outcome | None, *, frames: tuple[Frame, ...]) -> str:
    """Return the innermost frames of the library as text; empty if there are none."""
    # The Python stack of a native crash is less exact than that of an error: it only identifies
    # the operator.
    limit = _MAX_ERROR_FRAMES if isinstance(outcome, Errored) else _MAX_CRASH_FRAMES
    selected = library_frames(frames, api=finding.api, library=finding.library)[:limit]
    return " ← ".join(f"{file}:{function}" for file, function in selected)


_ORDINARY_SYMPTOMS = frozenset({"", "passed", "rejected"})
"""Names of symptoms that are not defects by themselves."""
_MAX_ERROR_FRAMES = 2
_MAX_CRASH_FRAMES = 1


def library_frames(
    frames: Iterable[Frame], *, api: str, library: str
) -> tuple[tuple[str, str], ...]:
    """Return file and function of the library's own frames, innermost first.

    Frames of other packages, of the standard library and of wrappers that all calls go through are
    left out. Paths start at the package, so that they do not depend on the installation.
    """
    packages = {library, api.partition(".")[0], *_reexported_packages(api)}
    selected = []
    for frame in frames:
        file = _within_package(frame.file, packages)
        function = _WRAPPER_VARIANT.sub("", frame.function)
        if file and (file.rpartition("/")[2], function) not in _WRAPPERS:
            selected.append((file, function))
    return tuple(dict.fromkeys(selected))


def _reexported_packages(api: str) -> list[str]:
    """Return the packages that define an API which another package re-exports.

    For example, TensorFlow re-exports the APIs of Keras.
    """
    libraries = [library for library in LIBRARIES.items().values() if library.exported_as]
    return [library.module for library in libraries if api.startswith(f"{library.exported_as}.")]


def _within_package(file: str, packages: set[str]) -> str:
    """Return the path of a file relative to the folder of its package; empty for other packages."""
    parts = file.replace("\\", "/").split("/")
    if file.startswith(("/", "\\")) or ":" in parts[0]:
        # In a source checkout, the repository's folder often has the name of the package too.
        starts = [index for index, part in enumerate(parts[:-1]) if part in packages]
        parts = parts[starts[-1] :] if starts else []
    return "/".join(parts) if parts and parts[0] in packages else ""
