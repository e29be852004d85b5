"""What a face is made of, as Azure's Face says it: each attribute is a symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import z3

from ciguard.applications.providers.azure import face_messages as azure_faces
from ciguard.applications.solving.terms import Record, Sym, term_of

if TYPE_CHECKING:
    from ciguard.applications.providers.description import Operation
    from ciguard.applications.solving.symbols import Symbols
    from ciguard.domain import Json

_OLDEST = 100
_USUAL_SIDE, _MAX_PIXELS = 18, 4096
_MIN_SIDE = 8
_STEEPEST = 90.0
_PLAIN = {"blur": 0.0, "exposure": 0.5, "noise": 0.0}
_SIZE = ("face_rectangle", "width")


def describe(result: Record, _: Operation, name: str, symbols: Symbols) -> None:
    """Fill a face, in a square of any size.

    Args:
        result: that is filled.
        name: that symbols begin with.
        symbols: makes them.
    """
    side = symbols.whole(f"{name}.side", _USUAL_SIDE, (_MIN_SIDE, _MAX_PIXELS))
    corner = {at: symbols.whole(f"{name}.{at}", 2, (0, _MAX_PIXELS)) for at in ("left", "top")}
    result.put(["face_rectangle"], Record({**corner, "width": side, "height": side}))
    told = _Told(name, symbols)
    result.put(["face_attributes"], Record({**told.measured(), **told.named(), **told.flags()}))


def size_of(face: Record) -> Any:
    """Return what faces are ordered by, the largest first."""
    return face.at(_SIZE)


def shown_by(face: Json) -> list[str]:
    """Return what a face shows, in words."""
    told = face.get("face_attributes")
    if not told:
        return []
    surest = max(told["emotion"].items(), key=lambda one: one[1])
    others = [told[name] for name in ("gender", "glasses", "quality_for_recognition")]
    side = face["face_rectangle"]["width"]
    return [
        f"a face of {side} pixels", f"{surest[0]} {surest[1]:.6g}", f"smile {told['smile']:.6g}",
        f"{told['age']:.6g} years old", *others, told["mask"]["type"],
    ]  # fmt: skip


class _Told:
    """The attributes of one face."""

    def __init__(self, name: str, symbols: Symbols) -> None:
        self._name = name
        self._symbols = symbols

    def measured(self) -> dict[str, Any]:
        return {
            "age": self._symbols.number(f"{self._name}.age", 30.0, (0.0, _OLDEST)),
            "smile": self._share("smile"),
            "facial_hair": Record({one: self._share(one) for one in azure_faces.HAIRS}),
            "head_pose": Record({one: self._angle(one) for one in ("roll", "yaw", "pitch")}),
            "emotion": Record(self._emotion()),
            **{what: Record(self._leveled(what)) for what in azure_faces.LEVELS},
        }

    def named(self) -> dict[str, Any]:
        glasses = (azure_faces.NO_GLASSES, *azure_faces.GLASSES.values())
        mask = {
            "type": self._one_of("mask", azure_faces.MASKS),
            "nose_and_mouth_covered": self._flag("covered"),
        }
        return {
            "gender": self._one_of("gender", ("male", "female")),
            "glasses": self._one_of("glasses", glasses),
            "mask": Record(mask),
            "quality_for_recognition": self._one_of("quality", azure_faces.QUALITIES[::-1]),
        }

    def flags(self) -> dict[str, Any]:
        parts = [f"{one}_occluded" for one in azure_faces.OCCLUDED]
        hair = {"bald": self._share("bald"), "invisible": self._flag("invisible")}
        return {
            "makeup": Record({one: self._flag(one) for one in azure_faces.MAKEUPS}),
            "occlusion": Record({one: self._flag(one) for one in parts}),
            "hair": Record(hair),
        }

    def _share(self, what: str, usual: float = 0.0) -> Sym:
        return self._symbols.number(f"{self._name}.{what}", usual, (0.0, 1.0))

    def _angle(self, axis: str) -> Sym:
        return self._symbols.number(f"{self._name}.{axis}", 0.0, (-_STEEPEST, _STEEPEST))

    def _flag(self, what: str) -> Sym:
        return self._symbols.flag(f"{self._name}.{what}", usual=False)

    def _one_of(self, what: str, texts: tuple[str, ...]) -> Sym:
        """Return one of several texts; of a plain face, the first."""
        return self._symbols.one_of(f"{self._name}.{what}", texts, texts[0])

    def _emotion(self) -> dict[str, Any]:
        """Return the share of each emotion: all are one."""
        shares = {
            one: self._share(one, float(one == azure_faces.NEUTRAL))
            for one in azure_faces.EMOTION_KINDS
        }
        self._symbols.held.append(z3.Sum([one.term for one in shares.values()]) == 1)
        return dict(shares)

    def _leveled(self, what: str) -> dict[str, Any]:
        """Return a value with its level, which follows from it."""
        value = self._share(what, _PLAIN[what])
        *steps, (_, last) = azure_faces.LEVELS[what]
        term: Any = z3.StringVal(last)
        for end, level in reversed(steps):
            term = z3.If(value.term < term_of(end), z3.StringVal(level), term)
        now = azure_faces.leveled(what, float(value.now))[f"{what}_level"]
        return {f"{what}_level": Sym(term, now, value.needs), "value": value}
