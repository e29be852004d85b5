"""Root causes, which group the buckets of several APIs that are due to one fault.

The cause of a bucket follows from the bucket alone: from the first kind of evidence that it has.
The cause's name therefore does not depend on other buckets or their order. Evidence comes only from
data that the baseline stores: the fingerprint's ingredients, the case, the finding's evidence and
the native stack.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.causes import Cause
from ciguard.domain.findings import PairKind
from ciguard.domain.memory_errors import MEMORY_ERRORS
from ciguard.domain.outcomes import UNKNOWN_FUNCTION
from ciguard.oracles import traits_of
from ciguard.triage.levels import presentable
from ciguard.triage.symptom import INTERNAL_ERROR, MEMORY_CORRUPTION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ciguard.domain.findings import Bucket

    Reader = Callable[[Bucket, Mapping[str, str]], tuple[str, str] | None]
    """Function that returns kind and text of a bucket's evidence; None if the bucket has none of
    this kind. Its second argument holds the fingerprint's ingredients by name."""

_RECIPE = "g1"
_CAUSE_NAME = re.compile(r"g[1-9][0-9]?:[0-9a-f]{16}")
_NATIVE_FRAMES = 2
"""Number of innermost frames that must agree in two stacks, not counting dispatchers and checks."""
_MIN_WORDS = 3
"""Minimum number of words in a message that identifies a cause."""

_CHECK = re.compile(r"(?:(?P<file>[\w.+-]+\.\w+) )?Check fail(?:ed|ure): (?P<check>.*)")
_COMPARED_VALUES = re.compile(r" ?\([^()]* vs\. [^()]*\).*$")
_ASSERTION = re.compile(r"(?P<file>[\w.+-]+\.\w+)?\W.*Assertion [`'](?P<check>.*)' failed")
_INTERNAL = re.compile(
    r"(?P<check>.*?) ?INTERNAL ASSERT FAILED at \W*(?P<file>[\w.+-]+\.\w+)?(?P<remark>.*)"
)
_ACCESSORS = frozenset(
    {"tensor.cc", "tensor.h", "tensor_shape.cc", "tensor_shape.h", "SparseTensorUtils.h"}
)
"""Files of accessors, whose checks all kernels use. A check in them does not identify the fault."""
_GENERATED_WRAPPER = re.compile(r"/?gen_(?P<module>\w+)_ops\.py:(?P<operator>\w+)")
"""Frame of the wrapper that TensorFlow generates for an operator."""
_DISPATCHERS = frozenset({"jax/_src/dispatch.py:apply_primitive"})
"""Python functions that run all operators, so that their frames do not identify the fault."""
_TORCH_OPERATOR = re.compile(
    r"torch\.(?:ops\.aten\.|Tensor\.|linalg\.|special\.)?(?P<operator>[a-z]\w*)"
)
"""Qualified names of torch's functions that end in the name of the operator that they call."""
_STANDARD_LIBRARY = re.compile(r"\bstd::|_M_\w+|\bbad_alloc\b|\bbasic_string\b|\bsto[ild]\b")
"""Words in errors of the C++ standard library, which do not identify a place in the source."""
_VERB = re.compile(
    r"(?<![a-z])(?P<verb>apply|scatter_nd|scatter|gather_nd|gather|strided_slice_assign|assign)(?![a-z])"
)
"""Verbs in operator names. Operators of a module with the same verb share a kernel."""
_UNINFORMATIVE_CHECKS = frozenset({"false", "0", "?"})
"""Conditions of checks that occur in many places of the source."""
_CRASH_SYMPTOMS = frozenset(
    {
        MEMORY_CORRUPTION,
        "abort",
        "arithmetic",
        "illegal instruction",
        "killed",
        "process exit",
        "trap",
    }
)
"""Symptoms of crashes that do not identify the fault."""
_WORD = re.compile(r"[A-Za-z]{2,}")
_OPERATOR = re.compile(r" ?\[Op:\w+\]")
"""Suffix of TensorFlow's messages that names the operator."""
_QUOTED_OR_MARK = re.compile(r"(?:'[\w.<>]*'|<\w+>)(?:[\s,;]*(?:'[\w.<>]*'|<\w+>))*")
"""Sequences of quoted words and of marks for values, such as `<n>`. They depend on the case."""
_PRINTED_VALUE = re.compile(r" ?[(\[{](?=[^)\]}]*<\w+>)")
"""Opening bracket of a printed value."""


def with_causes(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Return the buckets in the same order, each with the cause that other buckets may share.

    The cause is None if a bucket has no evidence of one.
    """
    return [_with_cause(bucket) for bucket in buckets]


def _with_cause(bucket: Bucket) -> Bucket:
    cause = cause_of(bucket)
    shared = None if cause.name == bucket.fingerprint else cause
    # Most buckets of a large baseline are returned unchanged, because copies would take memory.
    return bucket if bucket.cause == shared else replace(bucket, cause=shared)


def distinct_causes_first(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Return the buckets with the first bucket of each cause at the front, otherwise in order."""
    ordered = list(buckets)
    first: dict[str, Bucket] = {}
    for bucket in ordered:
        first.setdefault(cause_of(bucket).name, bucket)
    keys = {bucket.fingerprint for bucket in first.values()}
    return sorted(ordered, key=lambda bucket: bucket.fingerprint not in keys)


def is_cause_name(text: str) -> bool:
    """Return whether `text` is a well-formed name of a shared cause."""
    return _CAUSE_NAME.fullmatch(text) is not None


def cause_of(bucket: Bucket) -> Cause:
    """Return the presumed root cause of a bucket.

    Without evidence, its name is the bucket's fingerprint.
    """
    evidence = _evidence(bucket)
    if evidence is None:
        return Cause(name=bucket.fingerprint, kind="of its own", text="")
    return Cause(name=_name(bucket, evidence), kind=evidence[0], text=evidence[1])


def _evidence(bucket: Bucket) -> tuple[str, str] | None:
    """Return kind and text of the first evidence for the root cause; None if there is none."""
    finding = bucket.finding
    if traits_of(finding.oracle).tests_user_functions:
        return None  # failures of different functions of the user have different causes
    readers = _OUTCOME_READERS if finding.pair is PairKind.NONE else _PAIR_READERS
    ingredients = dict(bucket.grouping)
    return next(filter(None, (reader(bucket, ingredients) for reader in readers)), None)


def _name(bucket: Bucket, evidence: tuple[str, str]) -> str:
    canonical = json.dumps([_RECIPE, bucket.finding.library, *evidence], separators=(",", ":"))
    return f"{_RECIPE}:{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"


# --- kinds of evidence ----------------------------------------------------------------------------


def _undefined_tensor(bucket: Bucket, _: Mapping[str, str]) -> tuple[str, str] | None:
    """Return evidence that a call passes None for a tensor.

    The common fault is that raw operators accept None.
    """
    if not bucket.finding.evidence.undefined:
        return None
    return "undefined tensor", "None for a tensor, which raw operators do not refuse"


def _failed_check(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the failed check, which identifies a place in the source for all APIs.

    The operators are added to a check that does not identify a place, such as `false`.
    """
    message = ingredients.get("message", "")
    if match := _INTERNAL.match(message):
        check = match["check"].rpartition(": ")[2] or match["remark"].strip(" ,\"'.")
    else:
        match = _CHECK.search(message) or _ASSERTION.search(message)
        if match is None:
            return None
        check = _COMPARED_VALUES.sub("", match["check"])
    file = match["file"] or "?"
    operators = ""
    if check in _UNINFORMATIVE_CHECKS or file in _ACCESSORS:
        operators = f" in {_operator_family(bucket, ingredients)}"
    return "failed check", f"{file}: {check}{operators}"


def _operator_family(bucket: Bucket, ingredients: Mapping[str, str]) -> str:
    """Return a name for the operators that share a kernel with the operator that ran.

    It is the operator's own name if no operator is known to share its kernel.
    """
    match = _GENERATED_WRAPPER.search(ingredients.get("stack", ""))
    if match is None:
        return _torch_operator(bucket) or bucket.finding.api
    verb = _VERB.search(match["operator"])
    return f"{match['module']}: {verb['verb'] if verb else match['operator']}"


def _native_frames(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the innermost native frames of a crash that has no message."""
    innermost = [
        frame.function
        for frame in bucket.native_stack[:_NATIVE_FRAMES]
        if frame.function != UNKNOWN_FUNCTION
    ]
    is_silent = not ingredients.get("message")
    return ("native frames", " ← ".join(innermost)) if innermost and is_silent else None


def _raising_function(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the Python function of the library that raised the error.

    Wrappers of operators do not count, because they only pass errors on. The Python caller of C++
    code does not count either, because the C++ code raised the error.
    """
    innermost = ingredients.get("stack", "").partition(" ← ")[0]
    is_raised = ingredients.get("symptom") == INTERNAL_ERROR and bool(ingredients.get("message"))
    if not innermost or not is_raised or _GENERATED_WRAPPER.search(innermost):
        return None
    location = f" in {bucket.finding.api}" if innermost in _DISPATCHERS else ""
    return "raising function", f"{innermost}: {_template(bucket, ingredients['message'])}{location}"


def _message(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the message without the words of the case; None if too few words remain."""
    template = _template(bucket, ingredients.get("message", ""))
    if len(_WORD.findall(template)) < _MIN_WORDS:
        return None
    is_standard = _STANDARD_LIBRARY.search(template)
    location = f" in {_torch_operator(bucket) or bucket.finding.api}" if is_standard else ""
    return "message", f"{template}{location}"


def _operator(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the operator that crashed, whichever public function called it."""
    match = _GENERATED_WRAPPER.search(ingredients.get("stack", ""))
    name = match["operator"] if match else _torch_operator(bucket)
    symptom = ingredients.get("symptom", "")
    if symptom in MEMORY_ERRORS:
        symptom = MEMORY_CORRUPTION  # without the memory guard, the same fault may crash
    return (f"{symptom} in operator", name) if name and symptom in _CRASH_SYMPTOMS else None


def _torch_operator(bucket: Bucket) -> str:
    """Return the operator in the name of a torch API; empty for other APIs.

    The `_` at the end of an in-place variant is removed.
    """
    match = _TORCH_OPERATOR.fullmatch(bucket.finding.api)
    return match["operator"].rstrip("_") if match else ""


def _changed_class(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the change of the exception's class. It usually affects all functions of a module."""
    if bucket.finding.kind != "exception":
        return None
    module = bucket.finding.api.rpartition(".")[0]
    return "exception class changed", f"{ingredients.get('detail', '')} in {module}"


def _changed_refusal(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the message with which one target rejects a call that the other one accepts."""
    if bucket.finding.kind not in {"refused", "accepted"}:
        return None
    evidence = _message(bucket, ingredients)
    return evidence and (bucket.finding.kind, evidence[1])


def _difference(bucket: Bucket, _: Mapping[str, str]) -> tuple[str, str]:
    """Return the API, which is the cause of its differences between any two targets."""
    return f"difference in {bucket.finding.kind}", bucket.finding.api


_PAIR_READERS: tuple[Reader, ...] = (_changed_class, _changed_refusal, _difference)
_OUTCOME_READERS: tuple[Reader, ...] = (
    _undefined_tensor,
    _failed_check,
    _native_frames,
    _raising_function,
    _message,
    _operator,
)


# --- templates ------------------------------------------------------------------------------------


def _template(bucket: Bucket, message: str) -> str:
    """Return a message without words of the case, without values and without lists of values."""
    text = _OPERATOR.sub("", message)
    for word in _case_words(bucket):
        text = re.sub(rf"(?<![\w<]){re.escape(word)}(?![\w>])", "<name>", text)
    before = _PRINTED_VALUE.split(text, maxsplit=1)[0]
    text = before if len(_WORD.findall(_QUOTED_OR_MARK.sub("", before))) >= _MIN_WORDS else text
    return " ".join(_QUOTED_OR_MARK.sub("…", text).split()).strip(" …:,;")


def _case_words(bucket: Bucket) -> list[str]:
    """Return the names of a bucket's API and the strings in its case, longest first."""
    name = bucket.finding.api.rpartition(".")[2]
    operator = "".join(part.capitalize() for part in name.split("_"))
    case = bucket.finding.case
    texts = filter(None, (text.strip() for text in presentable(case).texts_of(case)))
    return sorted({bucket.finding.api, name, operator, *texts}, key=lambda word: (-len(word), word))
