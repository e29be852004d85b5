"""Rules for torch's functions, tensor methods and layers."""

from __future__ import annotations

from ciguard.domain.values import LiteralValue
from ciguard.knowledge.clues import LEAD
from ciguard.knowledge.family_rules.fields import (
    RECURRENT_SIZES,
    Table,
    between,
    int_lists,
    shaped,
)
from ciguard.values import Between, Named

_H, _W, _D = Named("H", 4, 8), Named("W", 4, 8), Named("D", 4, 8)
_KH, _KW, _KD = Between(1, 3), Between(1, 3), Between(1, 3)


_BACKWARD = "grad_output|grad|input|indices|mask"
_SAME = {"shape_of": LEAD}

TORCH_RULES: Table = (
    (
        r"aten\.(?:upsample|adaptive|avg_pool|max_pool|\w+_pad|fractional)\w*1d",
        {_BACKWARD: shaped(("N", "C", Between(4, 8)))},
    ),
    (
        r"aten\.(?:upsample|adaptive|avg_pool|max_pool|\w+_pad|fractional|grid_sampler_)\w*2d",
        {_BACKWARD: shaped(("N", "C", _H, _W))},
    ),
    (
        r"aten\.(?:upsample|adaptive|avg_pool|max_pool|\w+_pad|fractional|grid_sampler_)\w*3d",
        {_BACKWARD: shaped(("N", "C", _D, _H, _W))},
    ),
    (
        r"aten\.nll_loss2d",
        {"input": shaped(("N", 4, "H", "W")), "target": shaped(("N", "H", "W"), 0, 3)},
    ),
    (
        r"aten\.(?:nll_loss|multi(?:label)?_margin)",
        {
            "input": shaped(("N", 4)),
            "target": shaped(("N",), 0, 3) | {"dtypes": ("int64",)},
            "weight": shaped((4,)),
            "reduction": between(0, 2),
        },
    ),
    (
        r"aten\.(?:native_)?(?:batch|group|layer)_norm",
        {
            "grad_out\\w*|input": shaped(("N", 4, 2)),
            "weight|bias|running_\\w+|save_\\w+|mean|rstd": shaped((4,)),
        },
    ),
    (r"aten\.\w+_backward", {"\\w*output|result|buffer": _SAME, "reduction": between(0, 2)}),
    (r"torch\.nn\.(?:RNN|LSTM|GRU)$", {"args": int_lists(RECURRENT_SIZES)}),
    (
        r"torch\.(?:nn\.functional\.)?conv(?:_transpose)?1d|torch\.conv1d",
        {
            "input": shaped(("N", "C", Between(4, 8))),
            "weight": shaped(("C", "C", _KW)),
            "bias": shaped(("C",)),
            "groups": between(1, 1),
        },
    ),
    (
        r"conv(?:_transpose)?2d",
        {
            "input": shaped(("N", "C", _H, _W)),
            "weight": shaped(("C", "C", _KH, _KW)),
            "bias": shaped(("C",)),
            "groups": between(1, 1),
        },
    ),
    (
        r"conv(?:_transpose)?3d",
        {
            "input": shaped(("N", "C", _D, _H, _W)),
            "weight": shaped(("C", "C", _KD, _KH, _KW)),
            "bias": shaped(("C",)),
            "groups": between(1, 1),
        },
    ),
    (r"(?:pool|pool_?with_indices|unpool)1d", {"input": shaped(("N", "C", Between(4, 8)))}),
    (r"(?:pool|pool_?with_indices|unpool)2d", {"input": shaped(("N", "C", _H, _W))}),
    (r"(?:pool|pool_?with_indices|unpool)3d", {"input": shaped(("N", "C", _D, _H, _W))}),
    (
        r"unpool|pool",
        {
            "kernel_size": between(2, 3),
            "padding": between(0, 1),
            "output_size": between(1, 4),
            "dilation": between(1, 1),
        },
    ),
    (
        r"functional\.linear|^torch\.nn\.functional\.bilinear",
        {
            "input|input1": shaped(("N", "I")),
            "weight": shaped(("O", "I")),
            "bias": shaped(("O",)),
            "input2": shaped(("N", "I")),
        },
    ),
    (
        r"torch\.(?:mm|smm|sspmm|hspmm)$|torch\.(?:sparse\.)?mm$",
        {"input|mat2|mat|mat1|sparse|dense": shaped(("M", "M"))},
    ),
    (r"torch\.bmm$", {"input|mat2": shaped(("B", "M", "M"))}),
    (
        r"torch\.(?:add(?:mm|bmm)|baddbmm|bmm|addmv|addr|mv|dot|vdot|inner|ger|outer|matmul|chain_matmul)",
        {
            "mat1|mat2|mat": shaped(("M", "M")),
            "vec|vec1|vec2": shaped(("M",)),
            "batch1|batch2": shaped(("B", "M", "M")),
        },
    ),
    (r"torch\.bmm|torch\.baddbmm", {"input|mat2": shaped(("B", "M", "M"))}),
    (r"torch\.addbmm|torch\.addmm", {"input": shaped(("M", "M"))}),
    (r"torch\.(?:mv)$", {"input": shaped(("M", "M"))}),
    (r"torch\.(?:dot|vdot|ger|outer)$", {"input|other|tensor|vec2": shaped(("M",))}),
    (
        (
            r"torch\.(?:linalg\.|)(?:cholesky|inv|inverse|det|slogdet|logdet|eig|eigh|eigvals|eigvalsh|"
            r"matrix_power|matrix_exp|lu_factor|lu|ldl_factor|inv_ex|cholesky_ex|trace|lu_factor_ex|"
            r"ldl_factor_ex|cholesky_inverse|tensorinv)"
        ),
        {"input|A|self": {"shape": ("M", "M"), "dtypes": ("float32", "float64", "complex64")}},
    ),
    (
        r"torch\.(?:linalg\.|)(?:solve|solve_ex|lstsq|triangular_solve|solve_triangular|cholesky_solve|lu_solve)",
        {
            "A|input2|L": {"shape": ("M", "M"), "dtypes": ("float32", "float64")},
            "B|input|b": {"shape": ("M", "K"), "dtypes": ("float32", "float64")},
        },
    ),
    (
        r"torch\.(?:linalg\.|fft\.|special\.)",
        {"input|A|self|x": {"dtypes": ("float32", "float64", "complex64")}},
    ),
    (
        r"torch\.(?:gather|take_along_dim|scatter\w*|index_\w+)",
        {
            "index|indices": {"dtypes": ("int64",), "low": 0, "high": 0, "shape_of": LEAD},
            "src|source": {"shape_of": LEAD},
        },
    ),
    (
        r"torch\.index_",
        {"index": {"dtypes": ("int64",), "shape": (Between(1, 3),), "low": 0, "high": 0}},
    ),
    (
        r"functional\.(?:embedding|embedding_bag)",
        {
            "input": {"dtypes": ("int64",), "low": 0, "high": 3, "ndim": (1, 2)},
            "weight": {"shape": (4, "E"), "dtypes": ("float32",)},
            "padding_idx": between(0, 3),
        },
    ),
    (
        r"functional\.(?:nll_loss|cross_entropy|multi_margin_loss)",
        {
            "input": {"shape": ("N", 4), "dtypes": ("float32",)},
            "target": shaped(("N",), 0, 3) | {"dtypes": ("int64",)},
            "weight": {"shape": (4,), "dtypes": ("float32",)},
        },
    ),
    (
        r"functional\.(?:\w*loss|binary_cross\w*|kl_div)",
        {
            "input": {"dtypes": ("float32", "float64"), "low": 0, "high": 1},
            "target": {"shape_of": "input", "dtype_of": "input", "low": 0, "high": 1},
            "weight": {"shape_of": "input"},
        },
    ),
    (
        r"functional\.(?:batch_norm|instance_norm)",
        {
            "input": {"shape": ("N", "C", _H, _W), "dtypes": ("float32",)},
            "running_mean|running_var|weight|bias": shaped(("C",), 0, 1) | {"dtypes": ("float32",)},
        },
    ),
    (
        r"torch\.(?:permute|transpose|movedim|moveaxis|swapaxes|swapdims)",
        {"dims": {"axis_of": LEAD, "length_of": LEAD}},
    ),
    (
        r"torch\.(?:bitwise_\w+|gcd|lcm)",
        {"input|other|self": {"dtypes": ("int64", "int32", "bool", "uint8")}},
    ),
    (
        r"torch\.(?:bernoulli|binomial|normal|poisson|multinomial)",
        {"input|prob|mean|std": between(0, 1)},
    ),
    (
        r"torch\.(?:histc|bincount|bucketize|searchsorted)",
        {"boundaries|sorted_sequence": {"ndim": (1, 1), "increasing": True}},
    ),
    (r"torch\.bincount", {"input": {"ndim": (1, 1), "dtypes": ("int64",), "low": 0, "high": 5}}),
    (
        r"torch\.(?:quantize_per|fake_quantize)",
        {"scale": between(1, 1), "zero_point": between(0, 0)},
    ),
    (r"pixel_(?:un)?shuffle", {"input": shaped(("N", 4, 4, 4)), "\\w*scale_factor": between(2, 2)}),
    (
        r"torch\.nn\.\w+$",
        {
            "num_heads|nhead": {"allowed": (LiteralValue(1),)},
            "groups|num_groups": {"allowed": (LiteralValue(1),)},
            "in_channels": {"size": "in_channels"},
            "in_features": {"size": "in_features"},
            "num_features": {"size": "num_features"},
            "input_size": {"size": "input_size"},
            "embed_dim": {"size": "embed_dim"},
            "d_model": {"size": "d_model"},
            "num_channels": {"size": "num_channels"},
            "in1_features": {"size": "in1_features"},
            "in2_features": {"size": "in2_features"},
            "padding": between(0, 1),
            "kernel_size": between(1, 3),
            "p|dropout": between(0, 1),
        },
    ),
    (r"torch\.nn\.functional\.", {"input": {"dtypes": ("float32", "float64", "float32", "int64")}}),
)
"""Rules in order of precedence."""
