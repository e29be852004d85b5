"""What the library is: data, and the parts that lie beside it."""

from __future__ import annotations

from pathlib import Path

from ciguard.domain.values import LiteralValue
from ciguard.libraries import (
    ForkPolicy,
    InputExpressions,
    Library,
    Operations,
    ProgramStyle,
    TensorForm,
    Way,
    Writer,
    call_maker,
)

FOLDER = Path(__file__).parent

SCRIPT = Writer(
    imports=("import planted_tiles as pt",),
    aliases={"planted_tiles": "pt"},
    literal="pt.tile({data}, dtype={dtype})",
    full="pt.broadcast_to(pt.tile({value}, dtype={dtype}), {shape})",
    zeros="pt.broadcast_to(pt.tile(0, dtype={dtype}), {shape})",
    from_array="pt.tile({array})",
    cast="{tensor}.cast({dtype})",
    is_tensor="isinstance(value, pt.Tile)",
    read=("value.dtype", "value.array.ravel().tolist()"),
)

PROGRAMS = ProgramStyle(
    roots=("planted_tiles",),
    forward="forward",
    bases=("Module",),
    method_layers="planted_tiles.nn",
    flattened="x.flatten(1)",
    reshaped="x.reshape({shape})",
    as_float="x.cast('float32')",
    inputs=InputExpressions(
        floating="planted_tiles.normal({shape}).cast('{dtype}')",
        whole="planted_tiles.integers({below}, {shape}).cast('{dtype}')",
    ),
    run="""
x = {input}
y = {model}(x)
""",
    recorder="""
_fed = {}
class _Seen(planted_tiles.nn.Module):
    def __init__(self, number):
        self.number = number
    def forward(self, x):
        _fed.setdefault(self.number, x)
        return x
""",
    ways=(Way("Flatten", "f(x)", 3),),
)

LIBRARY = Library(
    name="tiles",
    distributions=("ciguard-planted-tiles", "ciguard-planted"),
    module="planted_tiles",
    adapter=FOLDER / "adapter.py",
    forks=ForkPolicy.AFTER_USE,
    case_limit_s=2.0,
    script=SCRIPT,
    programs=PROGRAMS,
    forms=(
        TensorForm(
            "copied",
            call_maker("planted_tiles.Tile.cast", LiteralValue("float32")),
            frozenset({"float32"}),
        ),
    ),
    operations=Operations(broadcast="planted_tiles.broadcast_to", pickles_results=True),
    equivalents=FOLDER / "equivalents.toml",
    documentation="pytorch",
    spellings={"planted_tiles.array.": "planted_tiles."},
    tensor_class="planted_tiles.Tile",
    raw_names=("planted_tiles.raw.",),
    kernel_modules=("planted_tiles.kernels",),
    conda_names=("tiles-cpu",),
    security_policy="https://tiles.example/security",
)
