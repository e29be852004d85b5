"""Drawings of faces, and placeholders that only simulated services recognise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import ImageDraw, ImageFilter

from ciguard.levels.app.input_synthesis.input_maker import normalised_name
from ciguard.levels.app.input_synthesis.inputs import ServiceInput
from ciguard.levels.app.input_synthesis.pictures import gradient, png

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from PIL import Image

    from ciguard.levels.app.input_synthesis.inputs import InputSpec

_SIZE = (320, 320)
_MIN_BACKGROUND = 160
_SHAPE_COUNT = 7
_SKIN_COLOURS = ((240, 205, 180), (225, 185, 155), (205, 160, 125), (185, 140, 105))
_MOUTH_ANGLES = {"face": (85, 95), "joy": (20, 160), "sorrow": (200, 340), "surprise": (0, 360)}
"""Expression of a face → start and end angle of the mouth, in degrees."""


def expression_of(key: str) -> str:
    """Return the expression that a label means, a key of `_MOUTH_ANGLES`; empty if there is none.

    `Joy`, `joy_likelihood` and `joy human face` mean the same expression.
    """
    words = [
        word for word in normalised_name(key).split() if word not in {"human", "face", "likelihood"}
    ]
    name = " ".join(words) or "face"
    return name if name in _MOUTH_ANGLES else ""


def faces(wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
    """Yield drawn faces with an expression; yield nothing for an unknown expression.

    Args:
        wanted: the specification, whose key names the expression.
        rng: the random generator for sizes, positions and colours.
    """
    expression = expression_of(wanted.key)
    while expression:
        picture = gradient(rng, _SIZE, _MIN_BACKGROUND)
        _draw_face(picture, rng, expression)
        yield ServiceInput(wanted, png(picture), f"a drawn face, {expression}")


def _draw_face(picture: Image.Image, rng: random.Random, expression: str) -> None:
    """Draw a face with dark hair, brows, eyes and mouth, as in photographs."""
    width = rng.randint(130, 170)
    height = int(width * 1.3)
    left, top = rng.randint(50, _SIZE[0] - width - 50), rng.randint(25, _SIZE[1] - height - 25)
    skin = rng.choice(_SKIN_COLOURS)
    dark, shade = (tuple(int(part * factor) for part in skin) for factor in (0.25, 0.6))
    draw = ImageDraw.Draw(picture)

    def ellipse(x: float, y: float, w: float, h: float, colour: tuple[int, ...]) -> None:
        """Draw an ellipse; its centre and radii are fractions of the face's width and height."""
        x, y, w, h = left + x * width, top + y * height, w * width, h * height
        draw.ellipse((x - w, y - h, x + w, y + h), fill=colour)

    ellipse(0.5, 0.44, 0.56, 0.54, dark)
    ellipse(0.5, 0.54, 0.49, 0.48, skin)
    for x in (0.3, 0.7):
        ellipse(x, 0.45, 0.15, 0.075, shade)
        ellipse(x, 0.37, 0.14, 0.022, dark)
        ellipse(x, 0.455, 0.10, 0.038, (235, 235, 235))
        ellipse(x, 0.455, 0.055, 0.038, (25, 25, 25))
    for x in (0.44, 0.56):
        ellipse(x, 0.67, 0.03, 0.015, shade)
    x, y, w, h = left + width * 0.5, top + height * 0.82, width * 0.2, height * 0.06
    start, end = _MOUTH_ANGLES[expression]
    if expression == "face":
        draw.line((x - w, y, x + w, y), fill=(130, 45, 45), width=7)
    else:
        draw.arc((x - w, y - h, x + w, y + h), start, end, fill=(130, 45, 45), width=7)
    picture.paste(picture.filter(ImageFilter.GaussianBlur(1.5)))


def placeholders(wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
    """Yield images of coloured shapes, in which people recognise nothing.

    Args:
        wanted: the specification, which a simulated service looks up by the image.
        rng: the random generator for shapes and colours.
    """
    while True:
        picture = gradient(rng, _SIZE, _MIN_BACKGROUND)
        draw = ImageDraw.Draw(picture)
        for _ in range(_SHAPE_COUNT):
            x, y = (rng.randint(0, side) for side in _SIZE)
            size = rng.randint(10, 80)
            colour = tuple(rng.randint(0, 255) for _ in range(3))
            shape = rng.choice([draw.ellipse, draw.rectangle])
            shape((x, y, x + size, y + size), fill=colour)
        yield ServiceInput(
            wanted, png(picture), "a placeholder: only a simulated service recognises it"
        )
