"""Rules for encoded data: images, sounds, serialised tensors and character sets.

Random bytes could not be decoded, so the library itself encodes the values. A few invalid values
are included.
"""

from __future__ import annotations

from ciguard.domain.values import (
    CallValue,
    Constant,
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    Uniform,
    Value,
)
from ciguard.knowledge.family_rules.fields import Table, int_lists, shaped, texts


def _encoded(function: str, **arguments: Value) -> CallValue:
    return CallValue(f"tensorflow.{function}", (), tuple(arguments.items()))


def _pixels(*shape: int) -> TensorValue:
    return TensorValue("uint8", shape, Uniform(5, 0, 255))


_INVALID = (
    TensorValue("string", (), Uniform(1, 0, 9)),
    TensorValue("string", (2,), Uniform(1, 0, 9)),
)
_LARGEST = LiteralValue(b"\xff\xff\xff\x7f")
_END = LiteralValue(4096)


def _part(encoded: Value, position: int, length: Value) -> Value:
    return CallValue("tensorflow.strings.substr", (encoded, LiteralValue(position), length))


def _malformed(encoded: Value, *positions: int) -> tuple[Value, ...]:
    """Return encoded data whose bytes at each position state a huge number, and truncated data."""
    overwritten = (
        ListValue(
            (
                _part(encoded, 0, LiteralValue(position)),
                _LARGEST,
                _part(encoded, position + 4, _END),
            )
        )
        for position in positions
    )
    truncated = _part(encoded, 0, LiteralValue(positions[-1]))
    return (*(CallValue("tensorflow.strings.join", (parts,)) for parts in overwritten), truncated)


_PNG = _encoded("io.encode_png", image=_pixels(3, 4, 3))
_GREY = _encoded("io.encode_png", image=_pixels(2, 2, 1))
_JPEG = _encoded("io.encode_jpeg", image=_pixels(4, 3, 3))
_WAV = _encoded(
    "audio.encode_wav",
    audio=TensorValue("float32", (8, 1), Uniform(2, -1.0, 1.0)),
    sample_rate=TensorValue("int32", (), Constant(8000)),
)
_SERIALISED = _encoded(
    "io.serialize_tensor", tensor=TensorValue("float32", (2, 3), Uniform(1, 0.0, 1.0))
)
_BASE64 = _encoded("io.encode_base64", input=TensorValue("string", (2,), Uniform(4, 0, 9)))
_NUMBERS = TensorValue("string", (3,), Explicit((1, 2.5, -3)))

CODEC_RULES: Table = (
    (
        r"(?:decode_?and_?crop_?|decode_?|extract_?)jpeg(?:_?shape)?$|(?:Jpeg|JpegShape)$",
        {
            "contents": {"allowed": (*(_JPEG,) * 8, *_malformed(_JPEG, 4, 20, 163), *_INVALID)},
            "crop_window": shaped((4,), 0, 1),
            "channels": {"allowed": (LiteralValue(0), LiteralValue(3))},
        },
    ),
    (
        r"(?i:\.decode_?(?:image|png|jxl))$",
        {
            "contents": {
                "allowed": (
                    *(_PNG, _GREY, _PNG, _JPEG) * 2,
                    *_malformed(_PNG, 16, 20, 33),
                    *_INVALID,
                )
            },
            "channels": {"allowed": (LiteralValue(0), LiteralValue(3))},
        },
    ),
    (
        r"(?i:\.decode_?wav)$",
        {
            "contents": {
                "allowed": (*(_WAV,) * 8, *_malformed(_WAV, 4, 16, 22, 24, 32, 40), *_INVALID)
            }
        },
    ),
    (
        r"(?i:\.parse_?tensor)$",
        {
            "serialized": {
                "allowed": (*(_SERIALISED,) * 6, *_malformed(_SERIALISED, 1, 4, 8), *_INVALID)
            },
            "out_type": {"dtypes": ("float32",)},
        },
    ),
    (r"(?i:\.decode_?base_?64)$", {"input": {"allowed": (_BASE64, _BASE64, *_INVALID)}}),
    (
        r"StringToNumber$|strings\.to_number$",
        {"string_tensor|input": {"allowed": (_NUMBERS, _NUMBERS, *_INVALID)}},
    ),
    (
        r"(?i:unicode)",
        {
            "input_encoding": texts("UTF-8", "UTF-16-BE", "UTF-32-BE", "US-ASCII"),
            "output_encoding": texts("UTF-8", "UTF-16-BE", "UTF-32-BE"),
            "errors": texts("replace", "ignore", "strict"),
            "normalization_form": texts("NFC", "NFD", "NFKC", "NFKD"),
        },
    ),
    (
        r"(?i:extract_?volume_?patches)$",
        {
            "ksizes": int_lists((1, 1, 1, 1, 1), (1, 2, 2, 2, 1)),
            "strides": int_lists((1, 1, 1, 1, 1), (1, 2, 2, 2, 1)),
        },
    ),
)
"""Rules for the parameters of decoders."""
