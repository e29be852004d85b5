"""Functions whose documentation is broken in one way each; what they compute does not matter."""

# ruff: noqa: PLC2401, N803, RUF001 - names and texts that are not ASCII are what is planted

from __future__ import annotations

from typing import Any


def unbalanced(x: float, scale: float = 1.0) -> float:
    """Scale `x.

    Args:
        x (float the number, in [0, 1
        scale: By how much (default: 2.0. Same shape as `y`.
      : nobody
    Args
        ((((
    """
    return x * scale


def foreign(größe: float, 名前: str = "é") -> tuple[float, str]:
    return größe, 名前


# Since Python 3.13 a literal with a lone surrogate cannot be the documentation of a function.
foreign.__doc__ = """Gib „größe“ zurück \udcff\u202e\x00.

Args:
    größe: eine Zahl – nicht mehr.
    名前: 何か.
"""


def endless(x: float) -> float:
    return x


endless.__doc__ = "Return `x`.\n\nArgs:\n    x: " + "((`[{: word, " * 8_000


def nested(x: Any) -> Any:
    return x


nested.__doc__ = f"nested(x={'(' * 5_000}) -> {'[' * 5_000}\n\nArgs:\n    x ({'(' * 5_000}): deep"


class _WithoutSignature:
    """Takes what nobody can find out."""

    @property
    def __signature__(self) -> Any:
        message = "no signature found for builtin"
        raise ValueError(message)

    def __call__(self, *given: Any) -> int:
        return len(given)


class _Hostile:
    """Raises when somebody looks at its documentation."""

    @property
    def __doc__(self) -> str:  # type: ignore[mutable-override, override]
        message = "documentation is loaded from a file that is not there"
        raise RuntimeError(message)

    def __call__(self) -> int:
        return 0


without_signature = _WithoutSignature()
hostile = _Hostile()
