"""Detects faces in images, with the cascade classifiers of OpenCV."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.recognised import BoundingBox, Face
from ciguard.levels.app.providers.registered import face_messages_of
from ciguard.levels.app.virtualization import pictures
from ciguard.levels.app.virtualization.engine import Recogniser

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation

_CASCADE = "haarcascade_frontalface_default.xml"
_SCALE_FACTOR = 1.1
_MIN_NEIGHBOURS = 5
"""Minimum number of overlapping detections of a face."""
_MIN_SIDE = 24
"""Minimum side of a face, in pixels: the size that the cascade was trained with."""
_HALF_CONFIDENCE_WEIGHT = 2.0
"""Weight of a detection with a confidence of 1/2."""


@dataclass(frozen=True)
class FaceEngine(Recogniser):
    """Detects frontal faces; it does not recognise emotions."""

    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    """Lock of the cascade, which is not thread-safe."""

    NAME = "OpenCV cascades"
    TASK = RecognitionTask.FACES
    MODULES: ClassVar[tuple[str, ...]] = ("cv2", pictures.MODULE)

    def serves(self, operation: Operation) -> bool:
        """Return whether the operation detects faces, and an OpenCV with cascades is installed."""
        return super().serves(operation) and self._cascade is not None

    @cached_property
    def _cascade(self) -> Any:
        """The face detector; None if OpenCV has no cascades, as in version 5 and later."""
        opencv = import_module("cv2")
        if not hasattr(opencv, "CascadeClassifier"):
            return None
        cascade = opencv.CascadeClassifier(opencv.data.haarcascades + _CASCADE)
        return None if cascade.empty() else cascade

    def recognise(self, operation: Operation, content: bytes) -> Json:
        """Return the faces in an image, from left to right; their emotions are `UNKNOWN`."""
        image = pictures.picture(operation, content)
        grey = np.asarray(image.convert("L"))
        with self._lock:
            boxes, _, weights = self._cascade.detectMultiScale3(
                grey,
                scaleFactor=_SCALE_FACTOR,
                minNeighbors=_MIN_NEIGHBOURS,
                minSize=(_MIN_SIDE, _MIN_SIDE),
                outputRejectLevels=True,
            )
        faces = [
            Face(BoundingBox(*(int(side) for side in box)), _confidence(float(weight)), {})
            for box, weight in zip(boxes, np.ravel(weights), strict=True)
        ]
        faces.sort(key=lambda face: (face.box.left, face.box.top))
        return face_messages_of(operation).face_answer(faces, image.size)


def _confidence(weight: float) -> float:
    """Return the confidence for a detection's weight, by an uncalibrated logistic function."""
    return 1 / (1 + math.exp(_HALF_CONFIDENCE_WEIGHT - weight))
