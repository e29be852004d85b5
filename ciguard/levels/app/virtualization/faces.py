"""Finds faces in images, with the cascades of OpenCV."""

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
_STEP = 1.1
_NEIGHBOURS = 5
"""Overlapping finds that make a face."""
_SMALLEST = 24
"""Pixels of a face's side; the cascade's own size."""
_HALF_SURE = 2.0
"""Weight of a find that is as likely no face."""


@dataclass(frozen=True)
class Faces(Recogniser):
    """Finds faces that look at the camera; knows nothing of what they express."""

    _finding: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    """A cascade finds for one thread at a time."""

    NAME = "OpenCV cascades"
    TASK = RecognitionTask.FACES
    MODULES: ClassVar[tuple[str, ...]] = ("cv2", pictures.MODULE)

    def serves(self, operation: Operation) -> bool:
        """Return whether it is asked for faces, and an OpenCV that has cascades is installed."""
        return super().serves(operation) and self._cascade is not None

    @cached_property
    def _cascade(self) -> Any:
        """What finds; None where OpenCV has none, as from its version 5 on."""
        opencv = import_module("cv2")
        if not hasattr(opencv, "CascadeClassifier"):
            return None
        cascade = opencv.CascadeClassifier(opencv.data.haarcascades + _CASCADE)
        return None if cascade.empty() else cascade

    def recognised(self, operation: Operation, about: bytes) -> Json:
        """Return the faces in an image, from left to right; their emotions are `UNKNOWN`."""
        image = pictures.picture(operation, about)
        grey = np.asarray(image.convert("L"))
        with self._finding:
            boxes, _, weights = self._cascade.detectMultiScale3(
                grey,
                scaleFactor=_STEP,
                minNeighbors=_NEIGHBOURS,
                minSize=(_SMALLEST, _SMALLEST),
                outputRejectLevels=True,
            )
        faces = [
            Face(BoundingBox(*(int(side) for side in box)), _confidence(float(weight)), {})
            for box, weight in zip(boxes, np.ravel(weights), strict=True)
        ]
        faces.sort(key=lambda face: (face.box.left, face.box.top))
        return face_messages_of(operation).face_answer(faces, image.size)


def _confidence(weight: float) -> float:
    """Return a weight of the cascade's last stage as a share; it grows with it, and is no more."""
    return 1 / (1 + math.exp(_HALF_SURE - weight))
