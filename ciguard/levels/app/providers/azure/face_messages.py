"""Answers of Azure's Face, with the names that its clients have.

Parts that an operation does not tell are left out by the client, which knows what was asked for.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.recognised import DIGITS, EMOTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.recognised import BoundingBox, Face, Size

_EMOTION_OF = {"joy": "happiness", "sorrow": "sadness", "anger": "anger", "surprise": "surprise"}
NEUTRAL = "neutral"
EMOTION_KINDS = (*_EMOTION_OF.values(), "contempt", "disgust", "fear", NEUTRAL)
"""Each face is said to show each of them, with a share; all are one."""
GLASSES: Mapping[str, str] = {
    "reading_glasses": "readingGlasses", "sunglasses": "sunglasses",
    "swimming_goggles": "swimmingGoggles",
}  # fmt: skip
"""What a face shows → how the service calls it."""
NO_GLASSES = "noGlasses"
MASKS = ("noMask", "faceMask", "otherMaskOrOcclusion", "uncertain")
QUALITIES = ("low", "medium", "high")
LEVELS: Mapping[str, tuple[tuple[float, str], ...]] = {
    "blur": ((0.25, "low"), (0.75, "medium"), (1.0, "high")),
    "exposure": ((0.25, "underExposure"), (0.75, "goodExposure"), (1.0, "overExposure")),
    "noise": ((0.3, "low"), (0.7, "medium"), (1.0, "high")),
}
"""Of each value, up to which one it is at which level."""
OCCLUDED = ("forehead", "eye", "mouth")
HAIRS = ("moustache", "beard", "sideburns")
MAKEUPS = ("eye_makeup", "lip_makeup")
_TURNS = {"turned": "yaw", "raised": "pitch", "tilted": "roll"}
SHOWN_BY_FACES: tuple[str, ...] = (
    *EMOTIONS, *EMOTION_KINDS[4:-1], "smile", "female", *HAIRS, *GLASSES, "headwear", "mask",
    "makeup", "bald", "blurred", "under_exposed", "over_exposed", "noisy",
    *(f"{part}_occluded" for part in OCCLUDED), *_TURNS,
)  # fmt: skip
ARE_FACES_MEASURED: bool = True
_STEEPEST = 90.0
"""Degrees of a head that is turned as far as can be."""
_MOST = 100
"""Faces that are told of one image."""
_LANDMARKS = {
    "pupil_left": (0.3, 0.35), "pupil_right": (0.7, 0.35), "nose_tip": (0.5, 0.6),
    "mouth_left": (0.33, 0.77), "mouth_right": (0.67, 0.77),
    "eyebrow_left_outer": (0.17, 0.27), "eyebrow_left_inner": (0.42, 0.27),
    "eye_left_outer": (0.23, 0.35), "eye_left_top": (0.3, 0.32), "eye_left_bottom": (0.3, 0.38),
    "eye_left_inner": (0.37, 0.35), "eyebrow_right_inner": (0.58, 0.27),
    "eyebrow_right_outer": (0.83, 0.27), "eye_right_inner": (0.63, 0.35),
    "eye_right_top": (0.7, 0.32), "eye_right_bottom": (0.7, 0.38), "eye_right_outer": (0.77, 0.35),
    "nose_root_left": (0.45, 0.37), "nose_root_right": (0.55, 0.37),
    "nose_left_alar_top": (0.43, 0.52), "nose_right_alar_top": (0.57, 0.52),
    "nose_left_alar_out_tip": (0.4, 0.58), "nose_right_alar_out_tip": (0.6, 0.58),
    "upper_lip_top": (0.5, 0.73), "upper_lip_bottom": (0.5, 0.76), "under_lip_top": (0.5, 0.79),
    "under_lip_bottom": (0.5, 0.83),
}  # fmt: skip
"""Where they are in a face, in shares of it."""


def face_answer(faces: Sequence[Face], size: Size) -> Json:
    """Return faces with all that may be asked for, the largest first: the answer is this list."""
    del size  # places are in pixels
    largest = sorted(faces, key=lambda face: -face.box.width * face.box.height)
    return [_face(face, at) for at, face in enumerate(largest[:_MOST])]


def _face(face: Face, place: int) -> Json:
    box = face.box
    return {
        "face_id": str(uuid.UUID(int=place + 1)),
        "face_rectangle": {
            "top": round(box.top),
            "left": round(box.left),
            "width": round(box.width),
            "height": round(box.height),
        },
        "face_landmarks": {name: _point(box, *shares) for name, shares in _LANDMARKS.items()},
        "face_attributes": _attributes(face),
    }


def _point(box: BoundingBox, x: float, y: float) -> Json:
    return {"x": round(box.left + box.width * x, 1), "y": round(box.top + box.height * y, 1)}


def _attributes(face: Face) -> Json:
    shown = {what: round(share, DIGITS) for what, share in face.shares().items()}

    def share(what: str) -> float:
        return shown.get(what, 0.0)

    def is_shown(what: str) -> bool:
        return share(what) > 1 / 2

    lit = max(share("over_exposed"), 1 - share("under_exposed") if share("under_exposed") else 0.5)
    told = {
        "age": float(face.age),
        "gender": "female" if is_shown("female") else "male",
        "smile": max(share("smile"), share("joy")),
        "facial_hair": {what: share(what) for what in HAIRS},
        "glasses": next((told for what, told in GLASSES.items() if is_shown(what)), NO_GLASSES),
        "head_pose": {axis: _STEEPEST * share(what) for what, axis in _TURNS.items()},
        "emotion": _emotion(shown),
        "hair": _hair(share("bald"), is_hidden=is_shown("headwear")),
        "makeup": dict.fromkeys(MAKEUPS, is_shown("makeup")),
        "occlusion": {f"{part}_occluded": is_shown(f"{part}_occluded") for part in OCCLUDED},
        "accessories": _accessories(shown),
        "blur": leveled("blur", share("blurred")),
        "exposure": leveled("exposure", round(lit, DIGITS)),
        "noise": leveled("noise", share("noisy")),
        "mask": _mask(is_worn=is_shown("mask"), is_hidden=is_shown("mouth_occluded")),
    }
    return {**told, "quality_for_recognition": _quality(told)}


def _emotion(shown: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each emotion; what is left of one is that none is shown."""
    named = {_EMOTION_OF.get(what, what): share for what, share in shown.items()}
    shares = {kind: named.get(kind, 0.0) for kind in EMOTION_KINDS}
    whole = max(1.0, sum(shares.values()))
    shares = {name: round(share / whole, DIGITS) for name, share in shares.items()}
    return {**shares, NEUTRAL: round(max(0.0, 1 - sum(shares.values())), DIGITS)}


def _hair(bald: float, *, is_hidden: bool) -> Json:
    colours = [] if is_hidden or bald > 1 / 2 else [("brown", 0.9), ("black", 0.7)]
    told = [{"color": colour, "confidence": sure} for colour, sure in colours]
    return {"bald": bald, "invisible": is_hidden, "hair_color": told}


def _accessories(shown: Mapping[str, float]) -> Json:
    glasses = max((shown.get(what, 0.0) for what in GLASSES), default=0.0)
    worn = {"headwear": shown.get("headwear", 0.0), "glasses": glasses}
    worn["mask"] = shown.get("mask", 0.0)
    return [{"type": what, "confidence": sure} for what, sure in worn.items() if sure > 1 / 2]


def leveled(what: str, value: float) -> dict[str, Json]:
    """Return a value with its level.

    Args:
        what: one of `LEVELS`.
        value: from 0 to 1.
    """
    steps = LEVELS[what]
    level = next((name for end, name in steps if value < end), steps[-1][1])
    return {f"{what}_level": level, "value": value}


def _mask(*, is_worn: bool, is_hidden: bool) -> Json:
    kind = MASKS[1] if is_worn else MASKS[2] if is_hidden else MASKS[0]
    return {"type": kind, "nose_and_mouth_covered": is_worn or is_hidden}


def _quality(told: Mapping[str, Json]) -> str:
    """Return how good an image is to recognise somebody in: as bad as the worst of it."""
    blurs = (told["blur"]["blur_level"], told["noise"]["noise_level"])
    is_lit = told["exposure"]["exposure_level"] == "goodExposure"
    if "high" in blurs or told["mask"]["nose_and_mouth_covered"]:
        return QUALITIES[0]
    return QUALITIES[1] if "medium" in blurs or not is_lit else QUALITIES[2]
