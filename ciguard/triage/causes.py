"""Causes: which buckets are one fault behind several APIs, by evidence that fits in one sentence.

A cause is read from one bucket alone, by the first kind of evidence that it has, so that its name
is the same whichever buckets were met, in whatever order. Only what a baseline keeps of a bucket is
read: ingredients of its fingerprint, its case, its evidence, its native stack.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.causes import Cause
from ciguard.domain.findings import PairKind
from ciguard.oracles import traits_of
from ciguard.triage.levels import presentable
from ciguard.triage.symptom import INTERNAL_ERROR, MEMORY_CORRUPTION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ciguard.domain.findings import Bucket

    Reader = Callable[[Bucket, Mapping[str, str]], tuple[str, str] | None]
    """Returns kind and text of the evidence, given the bucket's ingredients by name."""

_RECIPE = "g1"
_FORM = re.compile(r"g[1-9][0-9]?:[0-9a-f]{16}")
_NATIVE_FRAMES = 2
"""That two stacks must share, from the innermost; dispatchers and checks are left out of them."""
_MIN_WORDS = 3
"""Words that a message needs to name a cause."""

_CHECK = re.compile(r"(?:(?P<file>[\w.+-]+\.\w+) )?Check fail(?:ed|ure): (?P<check>.*)")
_COMPARED = re.compile(r" ?\([^()]* vs\. [^()]*\).*$")
_ASSERTED = re.compile(r"(?P<file>[\w.+-]+\.\w+)?\W.*Assertion [`'](?P<check>.*)' failed")
_INTERNAL = re.compile(
    r"(?P<check>.*?) ?INTERNAL ASSERT FAILED at \W*(?P<file>[\w.+-]+\.\w+)?(?P<remark>.*)"
)
_ACCESSORS = frozenset(
    {"tensor.cc", "tensor.h", "tensor_shape.cc", "tensor_shape.h", "SparseTensorUtils.h"}
)
"""Files of checks that every kernel passes through: the kernel should have looked before."""
_GENERATED = re.compile(r"/?gen_(?P<module>\w+)_ops\.py:(?P<operator>\w+)")
"""The wrapper that TensorFlow generates for an operator: every public function ends there."""
_DISPATCHERS = frozenset({"jax/_src/dispatch.py:apply_primitive"})
"""Python through which every operator passes: what it raises is about the one that ran."""
_OF_TORCH = re.compile(r"torch\.(?:ops\.aten\.|Tensor\.|linalg\.|special\.)?(?P<operator>[a-z]\w*)")
"""Where torch names its functions by the operators that they call."""
_OF_STANDARD_LIBRARY = re.compile(r"\bstd::|_M_\w+|\bbad_alloc\b|\bbasic_string\b|\bsto[ild]\b")
"""What any code in C++ may say: it names no place."""
_VERB = re.compile(
    r"(?<![a-z])(?P<verb>apply|scatter_nd|scatter|gather_nd|gather|strided_slice_assign|assign)(?![a-z])"
)
"""What the operators of a module do by one kernel, whatever they do it with."""
_NO_CHECKS = frozenset({"false", "0", "?"})
_DEATHS = frozenset(
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
"""Symptoms that say nothing of what went wrong."""
_WORD = re.compile(r"[A-Za-z]{2,}")
_OPERATOR = re.compile(r" ?\[Op:\w+\]")
"""What TensorFlow adds to a message: the operator that ran."""
_MARK = re.compile(r"(?:'[\w.<>]*'|<\w+>)(?:[\s,;]*(?:'[\w.<>]*'|<\w+>))*")
"""Quoted words, and what stands for values: the case decides what they are, and how many."""
_LIST = re.compile(r" ?[(\[{](?=[^)\]}]*<\w+>)")
"""The beginning of a value that is printed in full."""


def with_causes(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Return the buckets in the same order, each with the cause that it may share with others."""
    return [_with_cause(bucket) for bucket in buckets]


def _with_cause(bucket: Bucket) -> Bucket:
    cause = cause_of(bucket)
    shared = None if cause.name == bucket.fingerprint else cause
    # Most buckets of a large baseline have none: a copy of each would cost memory.
    return bucket if bucket.cause == shared else replace(bucket, cause=shared)


def first_of_each_cause(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Return the buckets, the first of each cause before all others, else in the same order."""
    listed = list(buckets)
    first: dict[str, Bucket] = {}
    for bucket in listed:
        first.setdefault(cause_of(bucket).name, bucket)
    names = {bucket.fingerprint for bucket in first.values()}
    return sorted(listed, key=lambda bucket: bucket.fingerprint not in names)


def is_cause_name(text: str) -> bool:
    """Return whether `text` has the form of the name of a cause that buckets share."""
    return _FORM.fullmatch(text) is not None


def cause_of(bucket: Bucket) -> Cause:
    """Return what is taken for a bucket's root cause."""
    evidence = _evidence(bucket)
    if evidence is None:
        return Cause(name=bucket.fingerprint, kind="of its own", text="")
    return Cause(name=_name(bucket, evidence), kind=evidence[0], text=evidence[1])


def _evidence(bucket: Bucket) -> tuple[str, str] | None:
    finding = bucket.finding
    if traits_of(finding.oracle).is_of_user:
        return None  # the user's own functions: each fails by itself
    readers = _OF_ENDS if finding.pair is PairKind.NONE else _OF_PAIRS
    ingredients = dict(bucket.grouping)
    return next(filter(None, (read(bucket, ingredients) for read in readers)), None)


def _name(bucket: Bucket, evidence: tuple[str, str]) -> str:
    canonical = json.dumps([_RECIPE, bucket.finding.library, *evidence], separators=(",", ":"))
    return f"{_RECIPE}:{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"


# --- kinds of evidence ----------------------------------------------------------------------------


def _undefined_tensor(bucket: Bucket, _: Mapping[str, str]) -> tuple[str, str] | None:
    """None passed for a tensor: what lets it through is at fault, not each operator that fails."""
    if not bucket.finding.evidence.undefined:
        return None
    return "undefined tensor", "None for a tensor, which raw operators do not refuse"


def _failed_check(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """A check names the place that failed, whichever API led there; `false` names none."""
    message = ingredients.get("message", "")
    if found := _INTERNAL.match(message):
        check = found["check"].rpartition(": ")[2] or found["remark"].strip(" ,\"'.")
    else:
        found = _CHECK.search(message) or _ASSERTED.search(message)
        if found is None:
            return None
        check = _COMPARED.sub("", found["check"])
    file = found["file"] or "?"
    where = ""
    if check in _NO_CHECKS or file in _ACCESSORS:
        where = f" in {_family(bucket, ingredients)}"
    return "failed check", f"{file}: {check}{where}"


def _family(bucket: Bucket, ingredients: Mapping[str, str]) -> str:
    """Return the operators that share their code with the one that ran, or that one."""
    found = _GENERATED.search(ingredients.get("stack", ""))
    if found is None:
        return _operator_of(bucket) or bucket.finding.api
    verb = _VERB.search(found["operator"])
    return f"{found['module']}: {verb['verb'] if verb else found['operator']}"


def _native_frames(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """Where a process died that said nothing."""
    innermost = [frame.function for frame in bucket.native_stack[:_NATIVE_FRAMES]]
    is_silent = not ingredients.get("message")
    return ("native frames", " ← ".join(innermost)) if innermost and is_silent else None


def _raising_function(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """Where the library's own Python raised; an operator's wrapper only hands on.

    A process that died by an exception of C++ died below the Python that called it.
    """
    innermost = ingredients.get("stack", "").partition(" ← ")[0]
    is_raised = ingredients.get("symptom") == INTERNAL_ERROR and bool(ingredients.get("message"))
    if not innermost or not is_raised or _GENERATED.search(innermost):
        return None
    where = f" in {bucket.finding.api}" if innermost in _DISPATCHERS else ""
    return "raising function", f"{innermost}: {_template(bucket, ingredients['message'])}{where}"


def _message(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """What an error says without the words of its case, where enough is left."""
    template = _template(bucket, ingredients.get("message", ""))
    if len(_WORD.findall(template)) < _MIN_WORDS:
        return None
    is_standard = _OF_STANDARD_LIBRARY.search(template)
    where = f" in {_operator_of(bucket) or bucket.finding.api}" if is_standard else ""
    return "message", f"{template}{where}"


def _operator(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """The operator that ran when the process died, whichever public function called it."""
    found = _GENERATED.search(ingredients.get("stack", ""))
    name = found["operator"] if found else _operator_of(bucket)
    symptom = ingredients.get("symptom", "")
    return (f"{symptom} in operator", name) if name and symptom in _DEATHS else None


def _operator_of(bucket: Bucket) -> str:
    """Return the operator that an API of torch is named by, in place or not; empty if by none."""
    found = _OF_TORCH.fullmatch(bucket.finding.api)
    return found["operator"].rstrip("_") if found else ""


def _changed_class(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """A module whose functions all raise another class than before."""
    if bucket.finding.kind != "exception":
        return None
    module = bucket.finding.api.rpartition(".")[0]
    return "exception class changed", f"{ingredients.get('detail', '')} in {module}"


def _changed_refusal(bucket: Bucket, ingredients: Mapping[str, str]) -> tuple[str, str] | None:
    """The same words refuse, or refused, the calls of several APIs."""
    if bucket.finding.kind not in {"refused", "accepted"}:
        return None
    evidence = _message(bucket, ingredients)
    return evidence and (bucket.finding.kind, evidence[1])


def _difference(bucket: Bucket, _: Mapping[str, str]) -> tuple[str, str]:
    """What one API computes differently is one cause, whatever it is compared with."""
    return f"difference in {bucket.finding.kind}", bucket.finding.api


_OF_PAIRS: tuple[Reader, ...] = (_changed_class, _changed_refusal, _difference)
_OF_ENDS: tuple[Reader, ...] = (
    _undefined_tensor,
    _failed_check,
    _native_frames,
    _raising_function,
    _message,
    _operator,
)


# --- templates ------------------------------------------------------------------------------------


def _template(bucket: Bucket, message: str) -> str:
    """Return what a message says about any case: no word of the case, no value, no list of them."""
    text = _OPERATOR.sub("", message)
    for word in _words_of(bucket):
        text = re.sub(rf"(?<![\w<]){re.escape(word)}(?![\w>])", "<name>", text)
    before = _LIST.split(text, maxsplit=1)[0]
    text = before if len(_WORD.findall(_MARK.sub("", before))) >= _MIN_WORDS else text
    return " ".join(_MARK.sub("…", text).split()).strip(" …:,;")


def _words_of(bucket: Bucket) -> list[str]:
    """Return the names of a bucket's API, and the texts of its case, the longest first."""
    name = bucket.finding.api.rpartition(".")[2]
    operator = "".join(part.capitalize() for part in name.split("_"))
    case = bucket.finding.case
    texts = filter(None, (text.strip() for text in presentable(case).texts_of(case)))
    return sorted({bucket.finding.api, name, operator, *texts}, key=lambda word: (-len(word), word))
