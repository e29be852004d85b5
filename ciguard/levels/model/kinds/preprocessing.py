"""Preprocessing of images and sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.model.layers import (
    Choices,
    Config,
    Draw,
    Family,
    LayerKind,
    LayerPlace,
    Shapes,
    elements,
    same_shape,
)

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import Shape

_IMAGE = (3,)
_UNIT_RANGE: tuple[list[float], ...] = ([0.0, 1.0],)
"""Values of `value_range`; the default is 0 to 255."""
_VALUE_RANGE = {"value_range": _UNIT_RANGE}
_FACTORS = (0.1, 0.3, [0.1, 0.4])
_COLOUR_CHANNELS, _COLOUR_OR_GREY_CHANNELS = (3,), (1, 3)

# --- sizes --------------------------------------------------------------------------------------


def _draw_resizing(rng: random.Random, place: LayerPlace) -> Config:
    height, width, _ = place.shapes[0]
    if place.keeps_shape:
        return {"height": height, "width": width}
    return {
        "height": rng.randint(1, min(2 * height, height + 8)),
        "width": rng.randint(1, min(2 * width, width + 8)),
    }


def _draw_random_crop(rng: random.Random, place: LayerPlace) -> Config:
    """Return the size of the whole image.

    Keras 3.15.1 crops in training only, but always declares the shape of the crop.
    """
    del rng
    height, width, _ = place.shapes[0]
    return {"height": height, "width": width}


def _draw_crop(rng: random.Random, place: LayerPlace) -> Config:
    height, width, _ = place.shapes[0]
    if place.keeps_shape:
        return {"height": height, "width": width}
    return {
        "height": rng.randint(max(1, height - 3), height),
        "width": rng.randint(max(1, width - 3), width),
    }


def _shape_resized(config: Config, shapes: Shapes) -> Shape:
    return (config["height"], config["width"], shapes[0][-1])


# --- sound --------------------------------------------------------------------------------------


def _draw_mel(rng: random.Random, place: LayerPlace) -> Config | None:
    samples = place.shapes[0][0]
    # The ends are padded by reflection, so a frame must not be longer than the sound.
    lengths = [n for n in (4, 8, 16, 32) if n <= samples]
    if place.keeps_shape or not lengths:
        return None
    length = rng.choice(lengths)
    return {
        "fft_length": length,
        "sequence_length": length,
        "sequence_stride": max(1, length // rng.choice((1, 2))),
        "num_mel_bins": rng.randint(2, 8),
        "sampling_rate": 8000,
    }


def _shape_mel(config: Config, shapes: Shapes) -> Shape:
    stride = config["sequence_stride"]
    return (config["num_mel_bins"], (shapes[0][0] + stride + 1) // stride)


def _draw_stft(rng: random.Random, place: LayerPlace) -> Config | None:
    samples, _ = place.shapes[0]
    lengths = [n for n in (2, 4, 8) if n <= samples]
    if place.keeps_shape or not lengths:
        return None
    length = rng.choice(lengths)
    return {
        "mode": rng.choice(("log", "magnitude", "psd", "real", "imag", "stft")),
        "frame_length": length,
        "frame_step": rng.randint(1, length),
        "fft_length": length,
        "padding": rng.choice(("valid", "same")),
        # Named windows need SciPy, which most backends do not install.
        "window": rng.choice((None, [1.0] * length)),
    }


def _shape_stft(config: Config, shapes: Shapes) -> Shape | None:
    samples, channels = shapes[0]
    length, step = config["frame_length"], config["frame_step"]
    bins = config["fft_length"] // 2 + 1
    bins *= 2 if config["mode"] == "stft" else 1
    is_valid = config.get("padding", "valid") == "valid"
    steps = (samples - length) // step + 1 if is_valid else -(-samples // step)
    return (steps, bins * channels) if steps > 0 else None


# --- rows ---------------------------------------------------------------------------------------


def _image(
    name: str,
    draw: Draw | None = None,
    *,
    channels: tuple[int, ...] = (),
    varied_arguments: tuple[str, ...] = (),
    is_random: bool = True,
) -> LayerKind:
    return LayerKind(
        name=name,
        family=Family.PREPROCESSING,
        ranks=_IMAGE,
        draw=draw or Choices(),
        shape=same_shape,
        varied_arguments=varied_arguments,
        is_random=is_random,
        channels=channels,
    )


def _factor_choices(*values: float | list[float], **others: tuple[float, ...]) -> Choices:
    return Choices(always={"factor": values or _FACTORS, **others}, sometimes=_VALUE_RANGE)


def _choices(**arguments: tuple[float, ...]) -> Choices:
    return Choices(always=arguments)


def _scratch_equalization(config: Config, shapes: Shapes) -> int:
    del config
    return 4 * elements(shapes[0])


_TRANSFORM_ARGUMENTS = ("fill_mode", "interpolation", "fill_value")

_IMAGES = (
    _image("AutoContrast", Choices(sometimes=_VALUE_RANGE), is_random=False),
    _image("AugMix", Choices(always=_VALUE_RANGE), channels=_COLOUR_OR_GREY_CHANNELS),
    _image("RandAugment", Choices(always=_VALUE_RANGE), channels=_COLOUR_OR_GREY_CHANNELS),
    _image("CutMix"),
    _image("MixUp", Choices(sometimes={"alpha": (0.2, 1.0)})),
    _image("RandomBrightness", _factor_choices(0.1, 0.4)),
    _image("RandomColorDegeneration", _factor_choices(0.2, [0.1, 0.9]), channels=_COLOUR_CHANNELS),
    _image("RandomColorJitter", Choices(always=_VALUE_RANGE), channels=_COLOUR_CHANNELS),
    _image("RandomContrast", _factor_choices(0.2, 0.5)),
    _image("RandomElasticTransform", _factor_choices(), varied_arguments=_TRANSFORM_ARGUMENTS),
    _image("RandomErasing", _factor_choices()),
    _image("RandomFlip", varied_arguments=("mode",)),
    _image("RandomGaussianBlur", _factor_choices()),
    _image("RandomGrayscale", _choices(factor=(0.2, 0.7)), channels=_COLOUR_OR_GREY_CHANNELS),
    _image("RandomHue", _factor_choices(0.2, [0.1, 0.3]), channels=_COLOUR_CHANNELS),
    _image("RandomInvert", _factor_choices(0.2, 0.7)),
    _image(
        "RandomPerspective", _choices(factor=(0.2, 0.7)), varied_arguments=_TRANSFORM_ARGUMENTS[1:]
    ),
    _image("RandomPosterization", Choices(always={"factor": (2, 5, 8)}, sometimes=_VALUE_RANGE)),
    _image("RandomRotation", _choices(factor=(0.1, 0.4)), varied_arguments=_TRANSFORM_ARGUMENTS),
    _image("RandomSaturation", _factor_choices(0.2, [0.1, 0.9]), channels=_COLOUR_CHANNELS),
    _image("RandomSharpness", _factor_choices(0.2, [0.1, 0.9])),
    _image(
        "RandomShear",
        _choices(x_factor=(0.1, 0.3), y_factor=(0.0, 0.2)),
        varied_arguments=_TRANSFORM_ARGUMENTS,
    ),
    _image(
        "RandomTranslation",
        _choices(height_factor=(0.1, 0.3), width_factor=(0.1, 0.2)),
        varied_arguments=_TRANSFORM_ARGUMENTS,
    ),
    _image(
        "RandomZoom", _choices(height_factor=(0.1, -0.2)), varied_arguments=_TRANSFORM_ARGUMENTS
    ),
    _image("Solarization", Choices(always={"addition_factor": (0.1, 0.3)}, sometimes=_VALUE_RANGE)),
)

KINDS = (
    *_IMAGES,
    LayerKind(
        name="ContrastLimitedAdaptiveHistogramEqualization",
        family=Family.PREPROCESSING,
        ranks=_IMAGE,
        draw=Choices(
            always={"tile_grid_size": ([1, 1], [2, 2]), **_VALUE_RANGE},
            sometimes={"clip_limit": (1.0, 4.0)},
        ),
        shape=same_shape,
        scratch_elements=_scratch_equalization,
    ),
    LayerKind(
        name="Rescaling",
        family=Family.PREPROCESSING,
        ranks=(1, 2, 3, 4),
        draw=Choices(
            always={"scale": (0.5, 2.0, -1.0, 1 / 255)}, sometimes={"offset": (0.5, -1.0)}
        ),
        shape=same_shape,
    ),
    *(
        LayerKind(
            name=name,
            family=Family.PREPROCESSING,
            ranks=_IMAGE,
            draw=draw,
            shape=_shape_resized,
            varied_arguments=varied_arguments,
            is_random=name.startswith("Random"),
        )
        for name, draw, varied_arguments in (
            ("Resizing", _draw_resizing, ("interpolation", "crop_to_aspect_ratio", "antialias")),
            ("CenterCrop", _draw_crop, ()),
            ("RandomCrop", _draw_random_crop, ()),
        )
    ),
    LayerKind(
        name="MelSpectrogram",
        family=Family.PREPROCESSING,
        ranks=(1,),
        draw=_draw_mel,
        shape=_shape_mel,
        varied_arguments=("power_to_db", "mag_exp"),
    ),
    LayerKind(
        name="STFTSpectrogram",
        family=Family.PREPROCESSING,
        ranks=(2,),
        draw=_draw_stft,
        shape=_shape_stft,
    ),
)
