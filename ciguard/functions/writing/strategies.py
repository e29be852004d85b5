"""The values of an argument as the text of a Hypothesis strategy."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.functions.solving.box import Box
from ciguard.functions.solving.constraints import (
    MORE_ITEMS,
    OPEN_INT,
    SIDES,
    float_range,
    int_range,
    shape_ranges,
)
from ciguard.functions.solving.parsing import names_in, parsed
from ciguard.functions.specs.kinds import (
    Anys,
    Arrays,
    Dicts,
    Dims,
    Dtypes,
    FloatsIn,
    IntsIn,
    Lists,
    Objs,
    Reference,
    Shapes,
    SizeOfCall,
    SizesOfCall,
    Spec,
    Strings,
    Tuples,
)
from ciguard.functions.writing.bounds import ArgumentBounds
from ciguard.functions.writing.call_source import quoted
from ciguard.values import Bool, OneOf
from ciguard.writing import scalar, writer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.writing.call_source import CallSource

ARRAYS_HELPER = '''
@st.composite
def arrays(draw, dtypes, shape, low=None, high=None, nan=False):
    """Arrays of one of several dtypes; a shape is a tuple of sizes, or a strategy of such."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    sizes = draw(shape) if isinstance(shape, st.SearchStrategy) else shape
    sizes = tuple(draw(n) if isinstance(n, st.SearchStrategy) else n for n in sizes)
    if dtype.kind == "f":
        top = min(1e6, float(np.finfo(dtype).max))
        least, most = -top if low is None else low, top if high is None else high
        width = min(64, 8 * dtype.itemsize)
        least, most = float(dtype.type(least)), float(dtype.type(most))
        elements = st.floats(least, most, width=width)
        if nan:
            elements |= st.sampled_from([np.nan, np.inf, -np.inf])
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        least = max(int(limits.min), -100) if low is None else int(low)
        most = max(least, min(int(limits.max), 100)) if high is None else int(high)
        elements = st.integers(least, most)
    else:
        elements = npst.from_dtype(dtype, allow_nan=nan)
    return draw(npst.arrays(dtype, sizes, elements=elements))
'''.strip()
_NO_NUMPY = {"bfloat16": "float32"}


@dataclass(slots=True)
class Strategies:
    """Writes strategies, and notes what a file needs for them."""

    source: CallSource
    library: str
    """Whose tensors and dtypes they are that name no library."""
    generators: list[str] = field(default_factory=list)
    """Annotated functions that make values."""
    needs_arrays: bool = False
    box: Box = field(default_factory=lambda: Box({}, {}))
    """What is known of the arguments of the function that is written."""
    guards: list[str] = field(default_factory=list)
    """Conditions without which a range is empty."""
    symbols: dict[str, str] = field(default_factory=dict)
    """Statements that draw the sizes which an argument's shape shares with others."""

    def of(self, spec: Spec, bounds: ArgumentBounds) -> str:  # noqa: C901, PLR0911, PLR0912 - the kinds
        """Return a strategy of what an annotation and preconditions allow."""
        match spec:
            case OneOf(values):
                texts = [self.source.expression(value) for value in values]
                if len(texts) == 1:
                    return f"st.just({texts[0]})"
                return f"st.sampled_from([{', '.join(texts)}])"
            case Bool():
                return "st.booleans()"
            case IntsIn():
                return self._ints(spec, bounds)
            case FloatsIn():
                return self._floats(spec, bounds)
            case Strings():
                return self._strings(spec, bounds)
            case Lists(item=item, is_tuple=is_tuple):
                lists = _call(
                    "st.lists", self.of(item, ArgumentBounds()), **self._lengths(spec, bounds)
                )
                return f"{lists}.map(tuple)" if is_tuple else lists
            case Tuples(items):
                return _call("st.tuples", *(self.of(item, ArgumentBounds()) for item in items))
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
                return _call("st.one_of", *(self.of(option, bounds) for option in options))
            case Objs(generator):
                if generator not in self.generators:
                    self.generators.append(generator)
                return f"{strategy_name(generator)}()"

    # --- numbers ----------------------------------------------------------------------------

    def _ints(self, spec: IntsIn, bounds: ArgumentBounds) -> str:
        low, high = self._ends(spec.min, spec.max, bounds, "value")
        if "value" in bounds.equals:
            return self._exactly(bounds.equals["value"], low, high)
        if not low and not high:
            low, high = map(str, int_range(IntsIn()))
        low = low or _shifted(high, -OPEN_INT)
        high = high or _shifted(low, OPEN_INT)
        self._guard(low, high)
        if bounds.multiple_of:
            return _multiples(low, high, bounds)
        return f"st.integers({low}, {high})"

    def _floats(self, spec: FloatsIn, bounds: ArgumentBounds) -> str:
        low, high = self._ends(spec.min, spec.max, bounds, "value")
        if "value" in bounds.equals:
            return self._exactly(bounds.equals["value"], low, high)
        if not low or not high:
            least, most = float_range(FloatsIn(width=spec.width))
            low, high = low or scalar(least), high or scalar(most)
        self._guard(low, high)
        options = {
            "exclude_min": "True" if spec.exclude_min else "",
            "exclude_max": "True" if spec.exclude_max else "",
            "width": str(spec.width) if spec.width != 64 else "",  # noqa: PLR2004 - Python's own
        }
        floats = _call("st.floats", low, high, **options)
        special = [f'float("{text}")' for text in ("nan",) * spec.nan + ("inf", "-inf") * spec.inf]
        return f"{floats} | st.sampled_from([{', '.join(special)}])" if special else floats

    def _exactly(self, text: str, low: str, high: str) -> str:
        self._guard(low, text)
        self._guard(text, high)
        return f"st.just({text})"

    def _guard(self, low: str, high: str) -> None:
        """Have it assumed that a range is not empty, unless that is certain."""
        if not low or not high:
            return
        first, second = parsed(low), parsed(high)
        if first is None or second is None:
            return
        if self.box.forward(first).high > self.box.forward(second).low:
            self.guards.append(f"{low} <= {high}")

    def _ends(
        self, least: object, most: object, bounds: ArgumentBounds, quantity: str
    ) -> tuple[str, str]:
        lows = [*filter(None, [self.bound(least)]), *bounds.lows.get(quantity, ())]
        highs = [*filter(None, [self.bound(most)]), *bounds.highs.get(quantity, ())]
        self._import_names(*lows, *highs)
        return _extreme("max", lows), _extreme("min", highs)

    def bound(self, bound: object) -> str:
        """Return the text of a number or a reference; empty for none."""
        if isinstance(bound, Reference):
            self._import_names(bound.expression)
            return ast.unparse(ast.parse(bound.expression.strip(), mode="eval"))
        return "" if bound is None else scalar(bound)

    def _import_names(self, *texts: str) -> None:
        if any("np." in text for text in texts):
            self.source.needs_numpy = True

    # --- containers -------------------------------------------------------------------------

    def _lengths(self, spec: Lists | Strings, bounds: ArgumentBounds) -> dict[str, str]:
        low, high = self._ends(spec.min_len, spec.max_len, bounds, "length")
        equal = bounds.equals.get("length", "")
        if equal:
            self._guard(low or "0", equal)
            self._guard(equal, high)
            return {"min_size": equal, "max_size": equal}
        self._guard(low or "0", high)
        return _sizes(low, high)

    def _strings(self, spec: Strings, bounds: ArgumentBounds) -> str:
        if spec.pattern:
            return f"st.from_regex({spec.pattern!r}, fullmatch=True)"
        letters = scalar(spec.alphabet) if spec.alphabet else ""
        return _call("st.text", alphabet=letters, **self._lengths(spec, bounds))

    def _dicts(self, spec: Dicts) -> str:
        keys, values = self.of(spec.keys, ArgumentBounds()), self.of(spec.values, ArgumentBounds())
        sizes = _sizes(self.bound(spec.min_size), self.bound(spec.max_size))
        if spec.max_size is None and isinstance(spec.keys, Bool | OneOf):
            sizes.pop("max_size")
        return _call("st.dictionaries", keys, values, **sizes)

    # --- arrays -----------------------------------------------------------------------------

    def _shapes(self, spec: Shapes) -> str:
        if isinstance(spec.min_dims, Reference) or isinstance(spec.max_dims, Reference):
            low, high = self.bound(spec.min_dims) or "1", self.bound(spec.max_dims)
            ranks = _sizes(low, high or _shifted(low, SIDES[0] + 2))
            _, (small, large) = shape_ranges(Shapes(None, None, spec.min_side, spec.max_side))
            return _call("st.lists", f"st.integers({small}, {large})", **ranks) + ".map(tuple)"
        (least, most), (small, large) = shape_ranges(spec)
        sizes = {"min_size": str(least), "max_size": str(most)}
        return _call("st.lists", f"st.integers({small}, {large})", **sizes) + ".map(tuple)"

    def _arrays(self, spec: Arrays, bounds: ArgumentBounds) -> str:
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
            return self._wrapped(
                _call("arrays", f"[{self.bound(spec.dtype)}]", shape, **options), "", library
            )
        names = spec.dtype or element_types.COMMON
        plain = [name for name in names if name not in _NO_NUMPY]
        parts = []
        if plain:
            text = _call("arrays", _texts(plain), shape, **options)
            parts.append(self._wrapped(text, "", library))
        for name in (name for name in names if name in _NO_NUMPY):
            text = _call("arrays", _texts([_NO_NUMPY[name]]), shape, **options)
            parts.append(self._wrapped(text, name, library))
        return parts[0] if len(parts) == 1 else _call("st.one_of", *parts)

    def _wrapped(self, arrays: str, cast: str, library: str) -> str:
        """Return a strategy of a library's tensors, made from arrays."""
        if not library or library == "numpy":
            return arrays
        writer = writer_of(library)
        self.source.other_imports |= set(writer.imports)
        made = writer.from_array.format(array="array", stored="{array.dtype}")
        made = made.replace('"{array.dtype}"', "str(array.dtype)")
        if cast:
            dtype = writer.dtype.format(name=cast)
            made = writer.cast.format(tensor=made, dtype=dtype, name=cast)
        return f"{arrays}.map(lambda array: {made})"

    def _dtype(self, name: str, library: str) -> str:
        if not library or library == "numpy":
            self.source.needs_numpy = True
            return f"np.dtype({quoted(name)})"
        writer = writer_of(library)
        self.source.other_imports |= set(writer.imports)
        return writer.dtype.format(name=name)

    def _shape(self, shape: Dims | Reference | Spec | None) -> str:
        match shape:
            case None:
                return self._shapes(Shapes())
            case Reference():
                return f"tuple({self.bound(shape)})"
            case Dims(dims):
                sizes = [self._size(dim) for dim in dims]
                return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"
            case _:
                return self.of(shape, ArgumentBounds())

    def _size(self, dim: object) -> str:
        match dim:
            case int():
                return str(dim)
            case Reference():
                return self.bound(dim)
            case SizeOfCall(expression):
                return self._symbolic(expression)
            case SizesOfCall(symbol):
                name = f"sizes_{symbol or 'any'}"
                drawn = "draw(st.lists(st.integers(1, 4), max_size=2))"
                self.symbols.setdefault(name, f"{name} = {drawn}")
                return f"*{name}"
            case IntsIn():
                least, most = int_range(dim)
                return f"st.integers({max(least, 0)}, {most})"
            case _:
                return f"st.integers({SIDES[0]}, {SIDES[1]})"

    def _symbolic(self, expression: str) -> str:
        tree = ast.parse(expression, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = f"size_{node.id}"
        for symbol in sorted(names_in(expression)):
            drawn = f"size_{symbol} = draw(st.integers({SIDES[0]}, {SIDES[1]}))"
            self.symbols.setdefault(f"size_{symbol}", drawn)
        return ast.unparse(tree)


def _multiples(low: str, high: str, bounds: ArgumentBounds) -> str:
    """Return a strategy of the multiples, plus an offset, that lie in a range."""
    step, offset = _grouped(bounds.multiple_of), bounds.offset
    if offset:
        low, high = _minus(low, offset), _minus(high, offset)
    shown = f"i * {step}"
    if offset:
        shown += f" - {offset[1:]}" if offset.startswith("-") else f" + {offset}"
    least = f"-(-{_grouped(low)} // {step})"
    if low.isdecimal() and step.isdecimal():
        least = str(-(-int(low) // int(step)))
    most = f"{_grouped(high)} // {step}"
    if high.isdecimal() and step.isdecimal():
        most = str(int(high) // int(step))
    return f"st.integers({least}, {most}).map(lambda i: {shown})"


def _minus(text: str, offset: str) -> str:
    if text.lstrip("-").isdecimal() and offset.lstrip("-").isdecimal():
        return str(int(text) - int(offset))
    return f"{text} + {offset[1:]}" if offset.startswith("-") else f"{text} - {_grouped(offset)}"


def _grouped(text: str) -> str:
    """Return an expression that can stand beside an operator."""
    return text if text.isidentifier() or text.isdecimal() else f"({text})"


def strategy_name(function: str) -> str:
    """Return the name of the strategy of what a function makes."""
    return "values_of_" + "".join(c if c.isalnum() else "_" for c in function.strip(":"))


def _texts(names: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, names))}]"


def _extreme(function: str, texts: list[str]) -> str:
    """Return `max(a, b)`; of numbers alone the number."""
    unique = list(dict.fromkeys(texts))
    if len(unique) > 1:
        numbers = [text for text in unique if text.lstrip("-").isdecimal()]
        if len(numbers) > 1:
            choose = max if function == "max" else min
            kept = str(choose(map(int, numbers)))
            unique = [kept, *(text for text in unique if text not in numbers)]
    return f"{function}({', '.join(unique)})" if len(unique) > 1 else "".join(unique)


def _shifted(text: str, by: int) -> str:
    if text.lstrip("-").isdecimal():
        return str(int(text) + by)
    return f"{text} {'+' if by >= 0 else '-'} {abs(by)}"


def _sizes(low: str, high: str) -> dict[str, str]:
    return {
        "min_size": "" if low in ("", "0") else low,
        "max_size": high or _shifted(low or "0", MORE_ITEMS),
    }


def _call(function: str, *arguments: str, **keywords: str) -> str:
    named = [f"{name}={text}" for name, text in keywords.items() if text]
    return f"{function}({', '.join([*arguments, *named])})"
