"""Writes the Hypothesis strategy for an argument's values as source text."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.functions.solving.box import Box
from ciguard.functions.solving.constraints import (
    DEFAULT_INT_REACH,
    DEFAULT_SIZES,
    float_range,
    int_range,
    shape_ranges,
)
from ciguard.functions.solving.parsing import expression_tree, names_in
from ciguard.functions.specs.kinds import (
    Anys,
    Arrays,
    Dicts,
    Dims,
    Dtypes,
    FloatRange,
    IntRange,
    Lists,
    Objs,
    Reference,
    Shapes,
    Spec,
    Strings,
    SymbolicSize,
    SymbolicSizes,
    Tuples,
)
from ciguard.functions.writing.bounds import ArgumentBounds
from ciguard.functions.writing.call_source import string_literal
from ciguard.functions.writing.expression_text import (
    call_expression,
    extreme_expression,
    list_text,
    multiples_strategy,
    plus_number,
    size_options,
)
from ciguard.values import Bool, OneOf
from ciguard.writing import scalar, writer_of

if TYPE_CHECKING:
    from ciguard.functions.writing.call_source import CallSource

_NUMPY_SUBSTITUTES = {"bfloat16": "float32"}
"""Dtypes of drawn arrays by the dtype to which they are then cast, because numpy lacks it."""


@dataclass(slots=True)
class Strategies:
    """Writer of strategies, which records the definitions that they need in the file."""

    source: CallSource
    library: str
    """Name of the library of tensors and dtypes for which an annotation names none."""
    generators: list[str] = field(default_factory=list)
    """Names of the annotated functions that generate values."""
    needs_arrays: bool = False
    """True if a strategy uses the helper strategy `arrays`."""
    box: Box = field(default_factory=lambda: Box({}, {}))
    """Ranges of the arguments of the function whose test is being written."""
    guards: list[str] = field(default_factory=list)
    """Conditions under which the last written strategy has a value."""
    symbols: dict[str, str] = field(default_factory=dict)
    """Statements that draw sizes for several shapes, by the variable of the size."""

    def strategy_of(self, spec: Spec, bounds: ArgumentBounds) -> str:  # noqa: C901, PLR0911, PLR0912 - one case per kind
        """Return the strategy for the values that conform to a constraint and to bounds."""
        match spec:
            case OneOf(values):
                texts = [self.source.expression(value) for value in values]
                if len(texts) == 1:
                    return f"st.just({texts[0]})"
                return f"st.sampled_from([{', '.join(texts)}])"
            case Bool():
                return "st.booleans()"
            case IntRange():
                return self._integers(spec, bounds)
            case FloatRange():
                return self._floats(spec, bounds)
            case Strings():
                return self._strings(spec, bounds)
            case Lists(item=item, is_tuple=is_tuple):
                lists = call_expression(
                    "st.lists",
                    self.strategy_of(item, ArgumentBounds()),
                    **self._lengths(spec, bounds),
                )
                return f"{lists}.map(tuple)" if is_tuple else lists
            case Tuples(items):
                return call_expression(
                    "st.tuples", *(self.strategy_of(item, ArgumentBounds()) for item in items)
                )
            case Shapes():
                return self._shapes(spec)
            case Arrays():
                return self._arrays(spec, bounds)
            case Dtypes(names, library):
                known = names or element_types.COMMON
                texts = [self._dtype(name, library or self.library) for name in known]
                return f"st.sampled_from([{', '.join(texts)}])"
            case Dicts():
                return self._dicts(spec)
            case Anys(options):
                return call_expression(
                    "st.one_of", *(self.strategy_of(option, bounds) for option in options)
                )
            case Objs(generator):
                if generator not in self.generators:
                    self.generators.append(generator)
                return f"{strategy_name(generator)}()"

    # --- numbers ----------------------------------------------------------------------------

    def _integers(self, spec: IntRange, bounds: ArgumentBounds) -> str:
        """Return the strategy for integers."""
        low, high = self._bound_texts(spec.min, spec.max, bounds, "value")
        if "value" in bounds.equals:
            return self._exactly(bounds.equals["value"], low, high)
        if not low and not high:
            low, high = map(str, int_range(IntRange()))
        low = low or plus_number(high, -DEFAULT_INT_REACH)
        high = high or plus_number(low, DEFAULT_INT_REACH)
        self._guard(low, high)
        if bounds.multiple_of:
            return multiples_strategy(low, high, bounds)
        return f"st.integers({low}, {high})"

    def _floats(self, spec: FloatRange, bounds: ArgumentBounds) -> str:
        """Return the strategy for floating-point numbers."""
        low, high = self._bound_texts(spec.min, spec.max, bounds, "value")
        if "value" in bounds.equals:
            return self._exactly(bounds.equals["value"], low, high)
        if not low or not high:
            lowest, highest = float_range(FloatRange(width=spec.width))
            low, high = low or scalar(lowest), high or scalar(highest)
        self._guard(low, high)
        options = {
            "exclude_min": "True" if spec.exclude_min else "",
            "exclude_max": "True" if spec.exclude_max else "",
            "width": str(spec.width) if spec.width != 64 else "",  # noqa: PLR2004 - bits of Python's float
        }
        floats = call_expression("st.floats", low, high, **options)
        special = [f'float("{text}")' for text in ("nan",) * spec.nan + ("inf", "-inf") * spec.inf]
        return f"{floats} | st.sampled_from([{', '.join(special)}])" if special else floats

    def _exactly(self, text: str, low: str, high: str) -> str:
        """Return the strategy for the only allowed number, with guards that it is in range."""
        self._guard(low, text)
        self._guard(text, high)
        return f"st.just({text})"

    def _guard(self, low: str, high: str) -> None:
        """Add the guard that a range is not empty, unless it can never be empty."""
        if not low or not high:
            return
        first, second = expression_tree(low), expression_tree(high)
        if first is None or second is None:
            return
        if self.box.forward(first).high > self.box.forward(second).low:
            self.guards.append(f"{low} <= {high}")

    def _bound_texts(
        self, minimum: object, maximum: object, bounds: ArgumentBounds, quantity: str
    ) -> tuple[str, str]:
        """Return the source texts of the lower and the upper bound; empty for no bound."""
        lows = [*filter(None, [self.bound(minimum)]), *bounds.lows.get(quantity, ())]
        highs = [*filter(None, [self.bound(maximum)]), *bounds.highs.get(quantity, ())]
        self._import_names(*lows, *highs)
        return extreme_expression("max", lows), extreme_expression("min", highs)

    def bound(self, bound: object) -> str:
        """Return the source text of a bound (a number or a reference); empty for None."""
        if isinstance(bound, Reference):
            self._import_names(bound.expression)
            return ast.unparse(ast.parse(bound.expression.strip(), mode="eval"))
        return "" if bound is None else scalar(bound)

    def _import_names(self, *texts: str) -> None:
        if any("np." in text for text in texts):
            self.source.needs_numpy = True

    # --- containers -------------------------------------------------------------------------

    def _lengths(self, spec: Lists | Strings, bounds: ArgumentBounds) -> dict[str, str]:
        """Return the size options of a strategy."""
        low, high = self._bound_texts(spec.min_len, spec.max_len, bounds, "length")
        equal = bounds.equals.get("length", "")
        if equal:
            self._guard(low or "0", equal)
            self._guard(equal, high)
            return {"min_size": equal, "max_size": equal}
        self._guard(low or "0", high)
        return size_options(low, high)

    def _strings(self, spec: Strings, bounds: ArgumentBounds) -> str:
        if spec.pattern:
            return f"st.from_regex({spec.pattern!r}, fullmatch=True)"
        letters = scalar(spec.alphabet) if spec.alphabet else ""
        return call_expression("st.text", alphabet=letters, **self._lengths(spec, bounds))

    def _dicts(self, spec: Dicts) -> str:
        keys, values = (
            self.strategy_of(spec.keys, ArgumentBounds()),
            self.strategy_of(spec.values, ArgumentBounds()),
        )
        sizes = size_options(self.bound(spec.min_size), self.bound(spec.max_size))
        if spec.max_size is None and isinstance(spec.keys, Bool | OneOf):
            sizes.pop("max_size")
        return call_expression("st.dictionaries", keys, values, **sizes)

    # --- arrays -----------------------------------------------------------------------------

    def _shapes(self, spec: Shapes) -> str:
        """Return the strategy for shapes."""
        if isinstance(spec.min_dims, Reference) or isinstance(spec.max_dims, Reference):
            low, high = self.bound(spec.min_dims) or "1", self.bound(spec.max_dims)
            ranks = size_options(low, high or plus_number(low, DEFAULT_SIZES[0] + 2))
            _, (small, large) = shape_ranges(Shapes(None, None, spec.min_side, spec.max_side))
            return (
                call_expression("st.lists", f"st.integers({small}, {large})", **ranks)
                + ".map(tuple)"
            )
        (min_rank, max_rank), (small, large) = shape_ranges(spec)
        sizes = {"min_size": str(min_rank), "max_size": str(max_rank)}
        return (
            call_expression("st.lists", f"st.integers({small}, {large})", **sizes) + ".map(tuple)"
        )

    def _arrays(self, spec: Arrays, bounds: ArgumentBounds) -> str:
        """Return the strategy for arrays or tensors."""
        self.needs_arrays = True
        self.source.needs_numpy = True
        shape = bounds.equals.get("shape") or self._shape(spec.shape)
        options = {
            "low": self.bound(spec.min),
            "high": self.bound(spec.max),
            "nan": "True" if spec.nan else "",
        }
        library = (spec.library or self.library) if spec.is_tensor else ""
        if isinstance(spec.dtype, Reference):
            return self._as_tensors(
                call_expression("arrays", f"[{self.bound(spec.dtype)}]", shape, **options),
                "",
                library,
            )
        names = spec.dtype or element_types.COMMON
        direct = [name for name in names if name not in _NUMPY_SUBSTITUTES]
        parts = []
        if direct:
            text = call_expression("arrays", list_text(direct), shape, **options)
            parts.append(self._as_tensors(text, "", library))
        for name in (name for name in names if name in _NUMPY_SUBSTITUTES):
            text = call_expression(
                "arrays", list_text([_NUMPY_SUBSTITUTES[name]]), shape, **options
            )
            parts.append(self._as_tensors(text, name, library))
        return parts[0] if len(parts) == 1 else call_expression("st.one_of", *parts)

    def _as_tensors(self, arrays: str, cast: str, library: str) -> str:
        """Return the strategy for a library's tensors.

        Args:
            arrays: source text of the strategy for the arrays that become tensors.
            cast: name of the dtype to which tensors are cast; empty for no cast.
            library: name of the library; for numpy, the arrays' strategy is returned.
        """
        if not library or library == "numpy":
            return arrays
        writer = writer_of(library)
        self.source.other_imports |= set(writer.imports)
        tensor = writer.from_array.format(array="array", stored="{array.dtype}")
        tensor = tensor.replace('"{array.dtype}"', "str(array.dtype)")
        if cast:
            dtype = writer.dtype.format(name=cast)
            tensor = writer.cast.format(tensor=tensor, dtype=dtype, name=cast)
        return f"{arrays}.map(lambda array: {tensor})"

    def _dtype(self, name: str, library: str) -> str:
        if not library or library == "numpy":
            self.source.needs_numpy = True
            return f"np.dtype({string_literal(name)})"
        writer = writer_of(library)
        self.source.other_imports |= set(writer.imports)
        return writer.dtype.format(name=name)

    def _shape(self, shape: Dims | Reference | Spec | None) -> str:
        """Return the shape option of the helper strategy `arrays`."""
        match shape:
            case None:
                return self._shapes(Shapes())
            case Reference():
                return f"tuple({self.bound(shape)})"
            case Dims(dims):
                sizes = [self._size(dim) for dim in dims]
                return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"
            case _:
                return self.strategy_of(shape, ArgumentBounds())

    def _size(self, dim: object) -> str:
        """Return one size in a shape option: a number, a strategy or a variable."""
        match dim:
            case int():
                return str(dim)
            case Reference():
                return self.bound(dim)
            case SymbolicSize(expression):
                return self._symbolic_size(expression)
            case SymbolicSizes(symbol):
                name = f"sizes_{symbol or 'any'}"
                drawn = "draw(st.lists(st.integers(1, 4), max_size=2))"
                self.symbols.setdefault(name, f"{name} = {drawn}")
                return f"*{name}"
            case IntRange():
                minimum, maximum = int_range(dim)
                return f"st.integers({max(minimum, 0)}, {maximum})"
            case _:
                return f"st.integers({DEFAULT_SIZES[0]}, {DEFAULT_SIZES[1]})"

    def _symbolic_size(self, expression: str) -> str:
        """Return an expression for a symbolic size, whose symbols are variables."""
        tree = ast.parse(expression, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = f"size_{node.id}"
        for symbol in sorted(names_in(expression)):
            drawn = f"size_{symbol} = draw(st.integers({DEFAULT_SIZES[0]}, {DEFAULT_SIZES[1]}))"
            self.symbols.setdefault(f"size_{symbol}", drawn)
        return ast.unparse(tree)


def strategy_name(function: str) -> str:
    """Return the name of the strategy for the values that an annotated function generates."""
    return "values_of_" + "".join(
        character if character.isalnum() else "_" for character in function.strip(":")
    )
