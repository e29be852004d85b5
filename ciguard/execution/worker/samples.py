"""Small input data of models, which is equal on every machine and numpy version.

Only the fixed table of `fills` and exactly rounded operations are used, as the last bit of a sine
differs between versions of numpy.

The digits are the first twenty test images of E. Alpaydin and C. Kaynak, Optical Recognition of
Handwritten Digits, UCI Machine Learning Repository (CC BY 4.0), https://doi.org/10.24432/C50P49.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from ciguard.execution.worker.fills import elements

SIDE = 8
SHADES = "0123456789abcdefg"
"""Characters for the values of a pixel, from 0 to 16."""
DIGITS = (
    "005d910000dfaf5003f20b8004c008800580098004b01c7002e5ac00006da000",
    "000cd500000bg900003fg60007fgg200001gg300001gg600001gg600000bga00",
    "0004fc00003gfe00008d8g000016fb00018df10009gg500003dggb500003bg90",
    "007fd10008d6f400021dd000002fb1000001cc1000001a8000845e90007dd900",
    "0001b00000078000001d6220007f098005ga0g6004fgdg100003fa000002g400",
    "00ca000000egge0000dgfa1000bgg70000047g7000004g900054cg40009gga00",
    "000cd000005g800000dg300000ed000000fc720000dgdg30007gbf800019fb30",
    "0078dgf100774bc000008d100488ff6002bff400000g5000009f100000d50000",
    "009e810000ceec00009a0f40003gce20004gg20003g8ad2001f13g8000bgfb10",
    "00bc000002gggd0003gcae0001g1cf0000dg9f20000309b000009f40009cd300",
    "0019fb0000bg8e6002ga099001g4088004g4088001g51b3000ccaa00001ad300",
    "0000ed100005gg20000egc0001aggc0003ceg9000005gf000004ge000001dg10",
    "005c100000fe700000d1c00002a0e0000020g1000006f000009gf982003b8dc4",
    "029fe93004d89g800006ef30000be2000002fb0000002f400156dg6002ccdb00",
    "0008f100001ed11000af3fb007g71g8009gdeg5001afge000001ga00000af400",
    "05cdgg200bgf840008eb100008gge0000166g0000005g300015fd00004fg2000",
    "0008f100000ce000003g7000006g2000007ggd5000fg99e0003e92g20007fgb0",
    "0018fa0003dfee0005a0ac000035fa2000ggggc0018ce830000ad000000b9000",
    "00a7d900009acf20004bab00001ga10000cd400000c1c00001a2e00000be5000",
    "006e400000bga000008eg200001ccb0000000b30000005b0001447g2007ggdb1",
)
"""Images of the digits 0 to 9, and of 0 to 9 again, row by row."""

_ROUGHNESS = 0.225
"""Weight of the correction that makes a wave of parabolas a sine within 0.001."""
_DAILY = 0.02
"""Largest daily change of a price, as a fraction."""


def sample(kind: str, seed: int, shape: Sequence[int]) -> Any:
    """Return a batch of sample data.

    Args:
        kind: value of `ciguard.domain.models.SampleKind`.
        seed: number of the first sample; sample `i` of `digits` shows `(seed + i) % 10`.
        shape: size of the batch, then (rows, columns, channels) of images or (steps, features) of
            series; further axes are treated as channels or features.

    Returns:
        Array of float32, C-contiguous, in [0, 1]; in [-1, 1] for `sine`.

    Raises:
        KeyError: if the kind is unknown.
    """
    make = _KINDS[kind]
    batch, *rest = shape
    rows = [np.asarray(make(seed + number, tuple(rest))) for number in range(batch)]
    result = np.stack(rows) if rows else np.zeros((0, *rest))
    return np.ascontiguousarray(result.reshape(shape), dtype=np.float32)


def _digit(number: int, shape: tuple[int, ...]) -> Any:
    text = DIGITS[number % len(DIGITS)]
    pixels = np.array([SHADES.index(shade) for shade in text]) / (len(SHADES) - 1)
    if len(shape) < 2:  # noqa: PLR2004 - not a picture: its pixels in one row
        return pixels[_nearest(math.prod(shape), len(text))]
    rows, columns = shape[:2]
    picture = pixels.reshape(SIDE, SIDE)[_nearest(rows, SIDE)][:, _nearest(columns, SIDE)]
    return np.repeat(picture.reshape(-1), math.prod(shape[2:]))


def _nearest(count: int, available: int) -> Any:
    """Return the indices that resample `available` pixels to `count`."""
    return np.arange(count) * available // max(count, 1)


def _image(number: int, shape: tuple[int, ...]) -> Any:
    rows, columns, channels = _axes(shape)
    result = np.empty((rows, columns, channels))
    down, across = np.arange(rows) / max(rows, 1), np.arange(columns) / max(columns, 1)
    for channel in range(channels):
        a, b, c = elements(["u", _seed(number, channel), 0.5, 3.0], "float64", [3])
        phase = a * down[:, None] + b * across[None, :] + c
        result[:, :, channel] = 0.5 + 0.5 * _wave(phase)
    return result


def _axes(shape: tuple[int, ...]) -> tuple[int, int, int]:
    rows = shape[0] if shape else 1
    columns = shape[1] if len(shape) > 1 else 1
    return rows, columns, math.prod(shape[2:])


def _sine(number: int, shape: tuple[int, ...]) -> Any:
    steps, features = _series(shape)
    result = np.empty((steps, features))
    for feature in range(features):
        start, speed = elements(["u", _seed(number, feature), 0.0, 1.0], "float64", [2])
        result[:, feature] = _wave(start + (0.01 + 0.05 * speed) * np.arange(steps))
    return result


def _prices(number: int, shape: tuple[int, ...]) -> Any:
    steps, features = _series(shape)
    result = np.empty((steps, features))
    for feature in range(features):
        fill = ["u", _seed(number, feature), -_DAILY, _DAILY]
        prices = np.cumprod(1.0 + elements(fill, "float64", [steps]))
        lowest, highest = prices.min(initial=np.inf), prices.max(initial=-np.inf)
        result[:, feature] = (prices - lowest) / max(highest - lowest, 1e-9)
    return result


def _series(shape: tuple[int, ...]) -> tuple[int, int]:
    return (shape[0] if shape else 1), math.prod(shape[1:])


def _seed(number: int, part: int) -> int:
    return number * 7919 + part * 104729


def _wave(turns: Any) -> Any:
    """Return the sine of `turns` full turns, within 0.001.

    It uses one parabola per half turn, with a correction, and only exactly rounded operations.
    """
    turn = turns - np.floor(turns)
    first = turn < 0.5  # noqa: PLR2004 - half a turn
    half = np.where(first, turn, turn - 0.5)
    parabola = np.where(first, 1.0, -1.0) * 16.0 * half * (0.5 - half)
    return parabola + _ROUGHNESS * (parabola * np.abs(parabola) - parabola)


_KINDS = {"digits": _digit, "images": _image, "sine": _sine, "prices": _prices}
