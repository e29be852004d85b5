"""Script templates of Jittor's tensors, dtypes and seeds."""

from __future__ import annotations

from ciguard.libraries.scripts import Writer

SCRIPT = Writer(
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
)
