"""Script templates of Keras's tensors, dtypes and seeds."""

from __future__ import annotations

from ciguard.libraries.scripts import Writer

SCRIPT = Writer(
    imports=("import keras",),
    loaded=frozenset(
        f"keras.{name}"
        for name in (
            *("activations", "constraints", "initializers", "layers", "losses", "metrics"),
            *("models", "ops", "optimizers", "random", "regularizers", "saving", "tree", "utils"),
        )
    ),
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
)
