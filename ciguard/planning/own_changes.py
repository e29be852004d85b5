"""A library's own change: from changed sources and registrations of operators to its APIs."""

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
    """A way to tell a library of an operator."""

    pattern: re.Pattern[str]
    globs: tuple[str, ...]
    """What the operator's APIs are called; `{name}` and `{space}` are groups of the pattern."""


def _registration(pattern: str, *globs: str) -> _Registration:
    return _Registration(re.compile(pattern, re.MULTILINE), globs)


_TORCH = ("torch.ops.{space}.{name}",)
_TENSORFLOW = ("tensorflow.raw_ops.{name}",)
_REGISTRATIONS = (
    # native_functions.yaml: `linalg_norm` is torch.linalg.norm too.
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
_SPACE = re.compile(rf"TORCH_LIBRARY(?:_IMPL|_FRAGMENT)?\(\s*(?P<space>{_NAME})")


def touched_globs(change: ChangedFile, text: str, module: str) -> list[str]:
    """Return globs over the APIs that a change of a library's own file touches.

    A registration reaches to the next one; a changed function or class is an API by its name.

    Args:
        change: of a file.
        text: of the file as it is now.
        module: top-level module of the library; empty if the file's library has no module yet.
    """
    return list(dict.fromkeys([*_registered(change, text), *_defined(change, text, module)]))


def _registered(change: ChangedFile, text: str) -> Iterator[str]:
    spaces = [(match.start(), match["space"]) for match in _SPACE.finditer(text)]
    lines = _LineNumbers(text)
    matches = ((m, kind) for kind in _REGISTRATIONS for m in kind.pattern.finditer(text))
    found = sorted(matches, key=lambda item: item[0].start())
    ends = [*(match.start() for match, _ in found[1:]), len(text)]
    for (match, kind), end in zip(found, ends, strict=False):
        start = match.start()
        if change.touches(lines.of(start), max(lines.of(start), lines.of(end) - 1)):
            groups = {key: value or "" for key, value in match.groupdict().items()}
            around = next((name for at, name in reversed(spaces) if at <= start), "")
            names = {**groups, "space": groups.get("space") or around}
            yield from _filled(kind.globs, names)


def _filled(globs: tuple[str, ...], names: dict[str, str]) -> Iterator[str]:
    for glob in globs:
        filled = glob.format_map(names)
        if ".." not in filled:  # a group that is not there
            yield filled


def _defined(change: ChangedFile, text: str, module: str) -> Iterator[str]:
    if not module or not change.path.endswith(".py"):
        return
    try:
        definitions = read_module(text).definitions
    except UnreadableSourceError:
        return  # said where the uses are looked for
    for item in definitions:
        if change.touches(item.line, item.last_line) and not item.name.startswith("_"):
            yield f"{module}*.{item.name}"


class _LineNumbers:
    """The line of an offset."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def of(self, offset: int) -> int:
        """Return the line that holds an offset, from 1."""
        return bisect_left(self._ends, offset) + 1
