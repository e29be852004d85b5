"""Script templates of JAX's tensors, dtypes and seeds."""

from __future__ import annotations

from ciguard.libraries.jax.in_target.options import OPTIONS
from ciguard.libraries.scripts import Writer

_GRADIENTS = """
def weighted_sum(*inputs, function=graph):
    result = function(*inputs)
    total = jnp.zeros(())
    for part in jax.tree.leaves(result):
        if isinstance(part, jax.Array) and jnp.issubdtype(part.dtype, jnp.floating):
            weights = jnp.linspace(0.5, 1.5, part.size).reshape(part.shape)
            total += (part * weights.astype(part.dtype)).sum()
    return total, result


places = [n for n, x in enumerate({tuple}) if jnp.issubdtype(x.dtype, jnp.floating)]
graph = jax.value_and_grad(weighted_sum, argnums=tuple(places), has_aux=True)
{run}
result = [result[0][1], list(result[1])]
"""

_MAPPED = """
stacked = [jnp.stack([x, jnp.flip(x)]) for x in {tuple}]
graph = jax.vmap(graph)
{run}
result = [jax.tree.map(lambda array: array[place], result) for place in range(2)]
"""

SCRIPT = Writer(
    imports=("import jax", "import jax.numpy as jnp"),
    loaded=frozenset({"jax.numpy", "jax.lax", "jax.random", "jax.nn"}),
    dtype="jnp.{name}",
    literal="jnp.array({data}, dtype={dtype})",
    full="jnp.full({shape}, {value}, dtype={dtype})",
    zeros="jnp.zeros({shape}, dtype={dtype})",
    from_array="jnp.asarray({array})",
    cast="{tensor}.astype({dtype})",
    modes={"jit": ("", "result = jax.jit({call}{options})({row})")},
    options={name: f", compiler_options={options!r}" for name, options in OPTIONS.items()},
    gradients=_GRADIENTS,
    flipped="jnp.flip({tensor})",
    mapped=_MAPPED,
    is_tensor="isinstance(value, jax.Array)",
    read=("str(value.dtype)", "value.ravel().tolist()"),
)
