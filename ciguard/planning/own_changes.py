"""Changes of a library itself: maps changed sources and operator registrations to its APIs."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.sources import UnreadableSourceError, read_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.planning.checkout import ChangedFile

_NAME = r"[A-Za-z_]\w{0,100}"


@dataclass(frozen=True, slots=True)
class _Registration:
    """Pattern of operator registrations, and the APIs that they define."""

    pattern: re.Pattern[str]
    """Pattern of the registration in a source."""
    globs: tuple[str, ...]
    """Globs of the operator's APIs; `{name}` and `{space}` are groups of the pattern."""


def _registration(pattern: str, *globs: str) -> _Registration:
    return _Registration(re.compile(pattern, re.MULTILINE), globs)


_TORCH = ("torch.ops.{space}.{name}",)
_TENSORFLOW = ("tensorflow.raw_ops.{name}",)
_REGISTRATIONS = (
    # native_functions.yaml: `linalg_norm` is also torch.linalg.norm.
    _registration(
        rf"^- func: (?:(?P<prefix>linalg|fft|special|sparse|nested)_)?(?P<name>{_NAME})",
        "torch*.{name}",
    ),
    _registration(
        rf"torch\.library\.(?:define|custom_op|impl|register_\w+|opcheck)\(\s*[\"']"
        rf"(?P<space>{_NAME})::(?P<name>{_NAME})",
        *_TORCH,
    ),
    _registration(
        rf"\bm\.(?:def|impl)\(\s*(?:TORCH_SELECTIVE_\w+\()?\"(?:(?P<space>{_NAME})::)?(?P<name>{_NAME})",
        *_TORCH,
    ),
    _registration(rf"REGISTER_OP(?:_\w+)?\(\s*\"(?P<name>{_NAME})\"", *_TENSORFLOW),
    _registration(
        rf"REGISTER_KERNEL_BUILDER\(\s*(?:\w+::)*Name\(\"(?P<name>{_NAME})\"", *_TENSORFLOW
    ),
    _registration(rf"tf_export\(\s*[\"'](?P<name>{_NAME}(?:\.{_NAME})*)", "tensorflow.{name}"),
    _registration(rf"(?<=[\"'])(?P<name>keras(?:\.{_NAME})+)(?=[\"'])", "{name}"),
)
_NAMESPACE = re.compile(rf"TORCH_LIBRARY(?:_IMPL|_FRAGMENT)?\(\s*(?P<space>{_NAME})")


def touched_globs(change: ChangedFile, text: str, module: str) -> list[str]:
    """Return globs of the APIs that a change of a library's own file touches.

    A registration extends to the next registration. A changed function or class is an API of the
    same name.

    Args:
        change: the change of the file.
        text: the content of the file after the change.
        module: the top-level module of the library; empty if the library is unknown.
    """
    return list(
        dict.fromkeys([*_registered_globs(change, text), *_defined_globs(change, text, module)])
    )


def _registered_globs(change: ChangedFile, text: str) -> Iterator[str]:
    """Yield globs of the APIs whose registrations have changed lines."""
    namespaces = [(match.start(), match["space"]) for match in _NAMESPACE.finditer(text)]
    lines = _LineNumbers(text)
    matches = ((match, kind) for kind in _REGISTRATIONS for match in kind.pattern.finditer(text))
    registrations = sorted(matches, key=lambda item: item[0].start())
    ends = [*(match.start() for match, _ in registrations[1:]), len(text)]
    for (match, kind), end in zip(registrations, ends, strict=False):
        start = match.start()
        if change.touches(lines.line_of(start), max(lines.line_of(start), lines.line_of(end) - 1)):
            groups = {key: value or "" for key, value in match.groupdict().items()}
            namespace = next((name for offset, name in reversed(namespaces) if offset <= start), "")
            names = {**groups, "space": groups.get("space") or namespace}
            yield from _expanded(kind.globs, names)


def _expanded(globs: tuple[str, ...], names: dict[str, str]) -> Iterator[str]:
    """Yield the globs with names inserted, without those for which a name is missing."""
    for glob in globs:
        expanded_glob = glob.format_map(names)
        if ".." not in expanded_glob:  # a group did not match
            yield expanded_glob


def _defined_globs(change: ChangedFile, text: str, module: str) -> Iterator[str]:
    """Yield globs of the APIs with the names of changed functions and classes."""
    if not module or not change.path.endswith(".py"):
        return
    try:
        definitions = read_module(text).definitions
    except UnreadableSourceError:
        return  # `find_uses` reports the file
    for item in definitions:
        if change.touches(item.line, item.last_line) and not item.name.startswith("_"):
            yield f"{module}*.{item.name}"


class _LineNumbers:
    """Line numbers of a text, by offset."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def line_of(self, offset: int) -> int:
        """Return the number of the line that contains an offset, counted from 1."""
        return bisect_left(self._ends, offset) + 1
