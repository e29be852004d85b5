"""Script templates of JAX's tensors, dtypes and seeds."""

from __future__ import annotations

from ciguard.libraries.scripts import Writer

SCRIPT = Writer(
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
)
