"""Writes answers of Azure's Face service, with the field names of its clients.

The hook removes attributes that a request does not name.
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
"""Emotions of Azure; a face has a share of each emotion, and the shares sum to 1."""
GLASSES: Mapping[str, str] = {
    "reading_glasses": "readingGlasses", "sunglasses": "sunglasses",
    "swimming_goggles": "swimmingGoggles",
}  # fmt: skip
"""Property of a face → kind of glasses in the service."""
NO_GLASSES = "noGlasses"
MASKS = ("noMask", "faceMask", "otherMaskOrOcclusion", "uncertain")
QUALITIES = ("low", "medium", "high")
LEVELS: Mapping[str, tuple[tuple[float, str], ...]] = {
    "blur": ((0.25, "low"), (0.75, "medium"), (1.0, "high")),
    "exposure": ((0.25, "underExposure"), (0.75, "goodExposure"), (1.0, "overExposure")),
    "noise": ((0.3, "low"), (0.7, "medium"), (1.0, "high")),
}
"""Measured property → upper bound and name of each of its levels, in ascending order."""
OCCLUDED = ("forehead", "eye", "mouth")
HAIRS = ("moustache", "beard", "sideburns")
MAKEUPS = ("eye_makeup", "lip_makeup")
_ROTATION_AXES = {"turned": "yaw", "raised": "pitch", "tilted": "roll"}
FACE_PROPERTIES: tuple[str, ...] = (
    *EMOTIONS, *EMOTION_KINDS[4:-1], "smile", "female", *HAIRS, *GLASSES, "headwear", "mask",
    "makeup", "bald", "blurred", "under_exposed", "over_exposed", "noisy",
    *(f"{part}_occluded" for part in OCCLUDED), *_ROTATION_AXES,
)  # fmt: skip
ARE_FACES_MEASURED: bool = True
_MAX_ROTATION = 90.0
"""Maximum rotation of a head, in degrees."""
_MAX_FACES = 100
"""Maximum number of faces of an image."""
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
"""Positions of landmarks in a face, as shares of its size."""


def face_answer(faces: Sequence[Face], size: Size) -> Json:
    """Return a list of faces with all attributes, the largest first."""
    del size  # boxes are in pixels already
    largest = sorted(faces, key=lambda face: -face.box.width * face.box.height)
    return [_face(face, index) for index, face in enumerate(largest[:_MAX_FACES])]


def _face(face: Face, index: int) -> Json:
    box = face.box
    return {
        "face_id": str(uuid.UUID(int=index + 1)),
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
    """Return all attributes of a face."""
    confidences = {name: round(share, DIGITS) for name, share in face.confidences().items()}

    def share(name: str) -> float:
        return confidences.get(name, 0.0)

    def is_shown(name: str) -> bool:
        return share(name) > 1 / 2

    lit = max(share("over_exposed"), 1 - share("under_exposed") if share("under_exposed") else 0.5)
    attributes = {
        "age": float(face.age),
        "gender": "female" if is_shown("female") else "male",
        "smile": max(share("smile"), share("joy")),
        "facial_hair": {name: share(name) for name in HAIRS},
        "glasses": next((kind for name, kind in GLASSES.items() if is_shown(name)), NO_GLASSES),
        "head_pose": {axis: _MAX_ROTATION * share(name) for name, axis in _ROTATION_AXES.items()},
        "emotion": _emotion(confidences),
        "hair": _hair(share("bald"), is_hidden=is_shown("headwear")),
        "makeup": dict.fromkeys(MAKEUPS, is_shown("makeup")),
        "occlusion": {f"{part}_occluded": is_shown(f"{part}_occluded") for part in OCCLUDED},
        "accessories": _accessories(confidences),
        "blur": value_with_level("blur", share("blurred")),
        "exposure": value_with_level("exposure", round(lit, DIGITS)),
        "noise": value_with_level("noise", share("noisy")),
        "mask": _mask(is_worn=is_shown("mask"), is_hidden=is_shown("mouth_occluded")),
    }
    return {**attributes, "quality_for_recognition": _quality(attributes)}


def _emotion(confidences: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each emotion; the remainder is neutral."""
    by_kind = {_EMOTION_OF.get(name, name): share for name, share in confidences.items()}
    shares = {kind: by_kind.get(kind, 0.0) for kind in EMOTION_KINDS}
    total = max(1.0, sum(shares.values()))
    shares = {name: round(share / total, DIGITS) for name, share in shares.items()}
    return {**shares, NEUTRAL: round(max(0.0, 1 - sum(shares.values())), DIGITS)}


def _hair(bald: float, *, is_hidden: bool) -> Json:
    colours = [] if is_hidden or bald > 1 / 2 else [("brown", 0.9), ("black", 0.7)]
    hair_colours = [{"color": colour, "confidence": confidence} for colour, confidence in colours]
    return {"bald": bald, "invisible": is_hidden, "hair_color": hair_colours}


def _accessories(confidences: Mapping[str, float]) -> Json:
    glasses = max((confidences.get(item, 0.0) for item in GLASSES), default=0.0)
    accessories = {"headwear": confidences.get("headwear", 0.0), "glasses": glasses}
    accessories["mask"] = confidences.get("mask", 0.0)
    return [
        {"type": item, "confidence": confidence}
        for item, confidence in accessories.items()
        if confidence > 1 / 2
    ]


def value_with_level(name: str, value: float) -> dict[str, Json]:
    """Return a value with the name of its level.

    Args:
        name: one of `LEVELS`.
        value: number from 0 to 1.
    """
    steps = LEVELS[name]
    level = next((step for end, step in steps if value < end), steps[-1][1])
    return {f"{name}_level": level, "value": value}


def _mask(*, is_worn: bool, is_hidden: bool) -> Json:
    """Return the kind of mask on a face, and whether nose and mouth are covered."""
    kind = MASKS[1] if is_worn else MASKS[2] if is_hidden else MASKS[0]
    return {"type": kind, "nose_and_mouth_covered": is_worn or is_hidden}


def _quality(attributes: Mapping[str, Json]) -> str:
    """Return the quality of a face for recognition, which its worst property limits."""
    blurs = (attributes["blur"]["blur_level"], attributes["noise"]["noise_level"])
    is_lit = attributes["exposure"]["exposure_level"] == "goodExposure"
    if "high" in blurs or attributes["mask"]["nose_and_mouth_covered"]:
        return QUALITIES[0]
    return QUALITIES[1] if "medium" in blurs or not is_lit else QUALITIES[2]
