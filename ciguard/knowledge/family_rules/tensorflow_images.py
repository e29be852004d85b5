"""Rules for TensorFlow's convolutions, pooling, quantisation and image operators."""

from __future__ import annotations

from ciguard.knowledge.clues import Structure
from ciguard.knowledge.family_rules.fields import Table, between, int_lists, scalar, shaped, texts
from ciguard.values import Between, Named

_H, _W, _D = Named("H", 4, 8), Named("W", 4, 8), Named("D", 4, 8)
_KH, _KW, _KD = Between(1, 3), Between(1, 3), Between(1, 3)
_WINDOW_4 = int_lists((1, 1, 1, 1), (1, 2, 2, 1), (1, 2, 1, 1), (1, 3, 2, 1))
_STEP_4 = int_lists((1, 1, 1, 1), (1, 2, 2, 1), (1, 1, 1, 1))
_ONES_4 = int_lists((1, 1, 1, 1))
_WINDOW_5 = int_lists((1, 1, 1, 1, 1), (1, 2, 2, 2, 1), (1, 1, 2, 3, 1))
_STEP_5 = int_lists((1, 1, 1, 1, 1), (1, 2, 2, 2, 1))
_ONES_5 = int_lists((1, 1, 1, 1, 1))
_IMAGE = shaped(("N", _H, _W, "C"))
_VOLUME = shaped(("N", _D, _H, _W, "C"))


IMAGE_RULES: Table = (
    (
        r"raw_ops\.(?:MaxPoolV2|MaxPoolGradV2|MaxPoolGradGradV2)",
        {"ksize": shaped((4,), 1, 1), "strides": shaped((4,), 1, 1)},
    ),
    (
        r"raw_ops\..*PerChannel",
        {
            "inputs|gradients": shaped((Between(1, 4), "C")),
            "min": shaped(("C",), -2, -1),
            "max": shaped(("C",), 1, 2),
        },
    ),
    (
        r"raw_ops\.CombinedNonMaxSuppression",
        {
            "boxes": shaped(("N", "B", 1, 4), 0, 1),
            "scores": shaped(("N", "B", 2)),
            "max_output_size_per_class|max_total_size": scalar(1, 4),
        },
    ),
    (
        r"raw_ops\..*Conv2D(?!Backprop)",
        {
            "input|tensor_in|features": _IMAGE,
            "filter": shaped((_KH, _KW, "C", "O")),
            "strides": _STEP_4,
            "dilations": _ONES_4,
            "explicit_paddings": int_lists(()),
            "data_format": texts("NHWC"),
            "padding": texts("SAME", "VALID"),
        },
    ),
    (
        r"raw_ops\.Conv2DBackprop|raw_ops\.DepthwiseConv2dNativeBackprop",
        {
            "input": _IMAGE,
            "filter": shaped((1, 1, "C", "O")),
            "out_backprop": shaped(("N", _H, _W, "O")),
            "input_sizes|filter_sizes": shaped((4,), 1, 4),
            "strides|dilations": _ONES_4,
            "explicit_paddings": int_lists(()),
            "data_format": texts("NHWC"),
            "padding": texts("SAME", "VALID"),
        },
    ),
    (
        r"raw_ops\.DepthwiseConv2dNative$",
        {
            "input": _IMAGE,
            "filter": shaped((_KH, _KW, "C", Between(1, 2))),
            "strides|dilations": _ONES_4,
            "explicit_paddings": int_lists(()),
            "data_format": texts("NHWC"),
            "padding": texts("SAME", "VALID"),
        },
    ),
    (
        r"raw_ops\.(?:Conv3D|.*3D)",
        {
            "input|orig_input|orig_output|features": _VOLUME,
            "filter": shaped((_KD, _KH, _KW, "C", "O")),
            "out_backprop": shaped(("N", _D, _H, _W, "O")),
            "grad": _VOLUME,
            "orig_input_shape": shaped((5,), 1, 5),
            "input_sizes|filter_sizes": shaped((5,), 1, 4),
            "ksize": _WINDOW_5,
            "strides": _STEP_5,
            "dilations": _ONES_5,
            "data_format": texts("NDHWC"),
        },
    ),
    (
        r"raw_ops\..*(?:Max|Avg)Pool|raw_ops\.(?:Fractional|LRN|.*[iI]mage|Resize|.*ResizeGrad)",
        {
            "input|orig_input|orig_output|images|value|tensor_in": _IMAGE,
            "grad|grads|out_backprop": _IMAGE,
            "orig_input_shape": shaped((4,), 1, 5),
            "ksize": _WINDOW_4,
            "strides": _STEP_4,
            "pooling_ratio": {
                "structures": (Structure.FLOATS,),
                "low": 1,
                "high": 1,
                "length": (4, 4),
            },
            "data_format": texts("NHWC"),
            "padding": texts("SAME", "VALID"),
            "size": shaped((2,), 1, 8),
            "argmax": {**_IMAGE, "low": 0, "high": 3},
        },
    ),
    (
        r"raw_ops\.(?:Dilation2D|ExtractImagePatches)",
        {
            "input|images": _IMAGE,
            "filter": shaped((_KH, _KW, "C")),
            "out_backprop": _IMAGE,
            "ksizes": _WINDOW_4,
            "strides|rates": _ONES_4,
        },
    ),
    (
        r"raw_ops\..*(?:FusedBatchNorm|BatchNormWith)",
        {
            "x|t|y_backprop|backprop|side_input": _IMAGE,
            "scale|offset|mean|variance|m|v|beta|gamma": shaped(("C",), 0, 1),
            "reserve_space_\\d": shaped(("C",), 0, 1),
            "data_format": texts("NHWC"),
        },
    ),
    (
        r"raw_ops\..*(?:Quantiz|Requantiz|FakeQuant)",
        {"min_\\w+|\\w*_min|min": scalar(-2, -1), "max_\\w+|\\w*_max|max": scalar(1, 2)},
    ),
    (
        r"raw_ops\.(?:SpaceToBatch|BatchToSpace)",
        {
            "input": shaped((4, 4, 4, "C")),
            "block_shape": shaped((2,), 2, 2),
            "crops|paddings": shaped((2, 2), 0, 0),
            "block_size": between(2, 2),
        },
    ),
    (
        r"raw_ops\.(?:SpaceToDepth|DepthToSpace)",
        {
            "input": shaped(("N", 4, 4, 4)),
            "block_size": between(2, 2),
            "data_format": texts("NHWC"),
        },
    ),
    (r"raw_ops\.(?:BiasAdd)", {"value|out_backprop": shaped(("N", "C")), "bias": shaped(("C",))}),
    (r"raw_ops\.BiasAddGrad", {"out_backprop": {"ndim": (2, 5)}}),
    (
        r"raw_ops\..*NonMaxSuppression",
        {
            "boxes": shaped(("B", 4), 0, 1),
            "scores": shaped(("B",), 0, 1),
            "max_output_size": scalar(1, 4),
            "\\w*threshold|soft_nms_sigma": scalar(0, 1),
            "overlaps": shaped(("B", "B")),
        },
    ),
    (
        r"raw_ops\.CropAndResize",
        {
            "image|grads": _IMAGE,
            "boxes": shaped(("B", 4), 0, 1),
            "box_ind": shaped(("B",), 0, 0),
            "crop_size": shaped((2,), 1, 4),
            "image_size": shaped((4,), 1, 4),
        },
    ),
    (
        r"raw_ops\.(?:AdjustContrast|AdjustHue|AdjustSaturation|RGBToHSV|HSVToRGB)",
        {
            "images": shaped((_H, _W, 3)),
            "scale|delta|contrast_factor|min_value|max_value": scalar(0, 1),
        },
    ),
)
"""Rules in order of precedence."""
