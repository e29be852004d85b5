"""How each library writes a tensor, a dtype and a seed in a person's script."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PLAIN_DTYPES = frozenset(
    {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"}
)
"""Types for which every library can fill a tensor with one value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Source text of one library. Templates are filled with `str.format`."""

    imports: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)
    """First part of a dotted name → what the import binds."""
    loaded: frozenset[str] = frozenset()
    """Submodules that the import brings along; others are imported by name."""
    dtype: str = '"{name}"'
    literal: str
    """A tensor of `{data}` (nested lists) and `{dtype}`; `{stored}` is numpy's name for it."""
    full: str
    """A tensor of `{shape}` whose elements are all `{value}`."""
    zeros: str
    from_array: str
    """A tensor of an `{array}` of numpy."""
    cast: str = "{tensor}"
    """`{tensor}` turned into `{dtype}`, for types that numpy lacks."""
    casts_literals: bool = False
    """Whether `literal` makes `{stored}` too, so that other types take a cast."""
    finish: str = ""
    """Statement after the call, where the library computes only when it must."""
    seed: str = ""
    modes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By mode: what it needs before, and the statement that runs `{call}` in it and binds `result`.
    `{row}` are the names of the tensors, `{tuple}` the same as a tuple."""
    builds_layers_late: bool = False
    """Layers draw their weights when they are first called, or by `build`."""
    device: str = ""
    """Statement that selects a `{device}` other than the CPU."""
    layer_on_device: str = ""
    """Statements that build a layer on the CPU by those of `{layer}`, indented, and move it to a
    `{device}`, where its weights are drawn: the generators of devices differ."""
    is_tensor: str
    """Condition on `value`."""
    read: tuple[str, str]
    """Expressions on `value`: its dtype's common name, the flat list of its elements."""


_LOADED_BY_TORCH = frozenset(
    f"torch.{name}"
    for name in (
        *("autograd", "cuda", "distributions", "fft", "functional", "jit", "linalg", "nn"),
        *("nn.functional", "nn.init", "nn.utils", "ops", "ops.aten", "optim", "quantization"),
        *("random", "signal", "sparse", "special", "utils", "Tensor"),
    )
)

_MODULE = """

class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.call = {call}

    def forward(self, *inputs):
        return self.call(*inputs)
"""

WRITERS: dict[str, Writer] = {
    "torch": Writer(
        imports=("import torch",),
        loaded=_LOADED_BY_TORCH,
        dtype="torch.{name}",
        literal="torch.tensor({data}, dtype={dtype})",
        full="torch.full({shape}, {value}, dtype={dtype})",
        zeros="torch.zeros({shape}, dtype={dtype})",
        from_array="torch.from_numpy({array})",
        cast="{tensor}.to({dtype})",
        seed="torch.manual_seed({seed})",
        device="torch.set_default_device({device})",
        layer_on_device=(
            'with torch.device("cpu"):  # its weights are the same on every device then\n{layer}\n'
            "layer = layer.to({device})"
        ),
        modes={
            "aot_eager": (
                "",
                'result = torch.compile({call}, backend="aot_eager", fullgraph=True)({row})',
            ),
            "compile": ("", "result = torch.compile({call}, fullgraph=True)({row})"),
            "export": (
                _MODULE,
                "result = torch.export.export(Module(), {tuple}).module()({row})",
            ),
            "trace": (
                "\ncopies = tuple(tensor.clone() for tensor in {tuple})",
                "result = torch.jit.trace({call}, copies, check_trace=False)({row})",
            ),
        },
        is_tensor="isinstance(value, torch.Tensor)",
        read=('str(value.dtype).replace("torch.", "")', "value.detach().flatten().tolist()"),
    ),
    "tensorflow": Writer(
        imports=("import tensorflow as tf",),
        aliases={"tensorflow": "tf"},
        dtype="tf.{name}",
        literal="tf.constant({data}, dtype={dtype})",
        full="tf.constant({value}, shape={shape}, dtype={dtype})",
        zeros="tf.zeros({shape}, dtype={dtype})",
        from_array="tf.constant({array})",
        cast="tf.cast({tensor}, {dtype})",
        seed="tf.random.set_seed({seed})",
        modes={
            "function": ("", "result = tf.function({call})({row})"),
            "xla": ("", "result = tf.function({call}, jit_compile=True)({row})"),
        },
        builds_layers_late=True,
        is_tensor="isinstance(value, (tf.Tensor, tf.Variable))",
        read=("value.dtype.name", "value.numpy().ravel().tolist()"),
    ),
    "jittor": Writer(
        imports=("import jittor as jt",),
        aliases={"jittor": "jt"},
        dtype="jt.{name}",
        literal='jt.array({data}, dtype="{stored}")',
        full='jt.full({shape}, {value}, dtype="{stored}")',
        zeros='jt.zeros({shape}, dtype="{stored}")',
        from_array='jt.array({array}, dtype="{stored}")',
        cast="{tensor}.{name}()",
        casts_literals=True,
        finish="jt.sync_all(True)",
        seed="jt.set_global_seed({seed})",
        modes={"lazy": ("\njt.flags.lazy_execution = 1\n", "result = {call}({row})")},
        is_tensor="isinstance(value, jt.Var)",
        read=("str(value.dtype)", "value.numpy().ravel().tolist()"),
    ),
    "keras": Writer(
        imports=("import keras",),
        literal="keras.ops.convert_to_tensor({data}, dtype={dtype})",
        full="keras.ops.full({shape}, {value}, dtype={dtype})",
        zeros="keras.ops.zeros({shape}, dtype={dtype})",
        from_array="keras.ops.convert_to_tensor({array})",
        cast="keras.ops.cast({tensor}, {dtype})",
        seed="keras.utils.set_random_seed({seed})",
        is_tensor="keras.ops.is_tensor(value)",
        read=(
            "keras.backend.standardize_dtype(value.dtype)",
            "keras.ops.convert_to_numpy(value).ravel().tolist()",
        ),
    ),
    "jax": Writer(
        imports=("import jax", "import jax.numpy as jnp"),
        loaded=frozenset({"jax.numpy", "jax.lax", "jax.random", "jax.nn"}),
        dtype="jnp.{name}",
        literal="jnp.array({data}, dtype={dtype})",
        full="jnp.full({shape}, {value}, dtype={dtype})",
        zeros="jnp.zeros({shape}, dtype={dtype})",
        from_array="jnp.asarray({array})",
        cast="{tensor}.astype({dtype})",
        modes={"jit": ("", "result = jax.jit({call})({row})")},
        is_tensor="isinstance(value, jax.Array)",
        read=("str(value.dtype)", "value.ravel().tolist()"),
    ),
}
"""By library name."""


def writer_of(library: str, *, module: str = "") -> Writer:
    """Return the writer of a library; one of another package gets numpy arrays for tensors."""
    return WRITERS.get(library) or _generic(module or library)


def _generic(module: str) -> Writer:
    return Writer(
        imports=(f"import {module}", "import numpy as np"),
        literal='np.array({data}, dtype="{stored}")',
        full='np.full({shape}, {value}, dtype="{stored}")',
        zeros='np.zeros({shape}, dtype="{stored}")',
        from_array="{array}",
        is_tensor='hasattr(value, "dtype") and hasattr(value, "shape")',
        read=("str(value.dtype)", "np.asarray(value).ravel().tolist()"),
    )
