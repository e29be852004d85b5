"""Classifies messages of library errors: internal errors, exhausted memory, or rejections.

Each pattern was observed in a real library, or is the fixed `what()` of a C++ standard exception.
"""

from __future__ import annotations

import re

from ciguard.libraries.in_target.contract import ERRORED, EXHAUSTED, REJECTED
from ciguard.libraries.in_target.device_errors import kind_of_device_error

_EXHAUSTED = re.compile(
    r"std::bad_alloc"
    r"|std::bad_array_new_length"
    r"|DefaultCPUAllocator: (?:not enough memory|can't allocate memory)"
    r"|can't allocate memory: you tried to allocate"
    r"|[Oo]ut of memory (?:while|trying to) allocat"
    r"|Unable to allocate "
    r"|array is too (?:large|big)"
    r"|OOM when allocating"
    r"|RESOURCE_EXHAUSTED"
)

_INTERNAL = re.compile(
    # torch: TORCH_INTERNAL_ASSERT and similar macros
    r"INTERNAL ASSERT FAILED"
    # "please report …", but TensorFlow ends some rejections with "If you think this is an error,"
    r"|(?<!this is an error, )please "
    r"(?:report a bug|file a bug|file an issue|report this bug|report an issue)"
    r"|[Tt]his (?:is|may be|might be|indicates) (?:a|an internal) (?:bug|error) in "
    # C++ standard library exceptions that the library did not translate
    r"|vector::_M_"
    r"|vector::(?:reserve|at)\b"
    r"|cannot create std::(?:vector|deque) larger than max_size"
    r"|basic_string::"
    r"|(?:deque|array|bitset|string_view)::(?:_M_|at\b)"
    r"|\b(?:unordered_map|map|_Map_base)::at\b"
    r"|\bbad optional access\b"
    r"|\bbad_?variant_?access\b"
    r"|\bbad_(?:cast|function_call|typeid|weak_ptr|any_cast|optional_access|variant_access)\b"
    r"|\bstd::(?:length_error|out_of_range|logic_error|bad_\w+|get: )"
    r"|\bunexpected exception in C\+\+"
    r"|Caught an unknown exception"
)

_FAILED_CONVERSIONS = frozenset(
    ("stoi", "stol", "stoll", "stoul", "stoull", "stof", "stod", "stold")
)
"""Whole messages: names of the C++ functions that convert text to numbers."""

_HINTS = (
    "std::", "DefaultCPUAllocator: ", "can't allocate memory", "ut of memory ",
    "Unable to allocate", "array is too ", "OOM when ", "RESOURCE_EXHAUSTED", "INTERNAL ASSERT",
    "report a bug", "file a bug", "file an issue", "report this bug", "report an issue", "bug in ",
    "error in ", "vector::", "basic_string::", "::_M_", "::at", "bad_", "badvariant",
    "bad optional", "unexpected exception", "unknown exception",
)  # fmt: skip
"""Substrings: every message that a pattern matches contains one.

A search for them is many times cheaper than the patterns. There are thousands of messages a second,
and nearly all of them contain none of the substrings.
"""


def kind_of_message(message: str) -> str:
    """Return EXHAUSTED, ERRORED or LOST; REJECTED for messages that no pattern matches."""
    kind = kind_of_device_error(message)
    if kind != REJECTED:
        return kind
    if message in _FAILED_CONVERSIONS:
        return ERRORED
    for hint in _HINTS:
        if hint in message:
            break
    else:
        return REJECTED
    if _EXHAUSTED.search(message):
        return EXHAUSTED
    if _INTERNAL.search(message):
        return ERRORED
    return REJECTED
