from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annotated import Annotated

from ciguard.functions.in_target.describing.encoding import Encoder
from ciguard.functions.in_target.describing.hints import hint_spec

HINTED = {
    "Annotated[int, Range(1, 5)]": "type(x) is int and 1 <= x <= 5",
    "Annotated[float, Range(0, 1)]": "type(x) is float and 0 <= x <= 1",
    "Annotated[int, Range(min=3)]": "x >= 3",
    "Annotated[int, Gt(2), Lt(5)]": "x in (3, 4)",
    "Annotated[float, Gt(0), Le(1)]": "0 < x <= 1",
    "Annotated[list[int], Len(2, 3)]": "type(x) is list and 2 <= len(x) <= 3",
    "Annotated[str, Len(2, 3)]": "type(x) is str and 2 <= len(x) <= 3",
    "Annotated[int, ints(7, 8)]": "x in (7, 8)",
    "Annotated[int, Interval(ge=2, lt=4)]": "x in (2, 3)",
    "Literal['a', 3, None]": "x in ('a', 3, None)",
    "Optional[bool]": "x is None or type(x) is bool",
    "Union[bool, Literal[4]]": "type(x) is bool or x == 4",
    "Color": "isinstance(x, Color)",
    "tuple[int, bool]": "type(x) is tuple and type(x[0]) is int and type(x[1]) is bool",
    "tuple[bool, ...]": "type(x) is tuple and all(type(i) is bool for i in x)",
    "dict[str, bool]": "type(x) is dict and all(type(v) is bool for v in x.values())",
    "List[Literal[1]]": "type(x) is list and set(x) <= {1}",
    "int": "type(x) is int",
    "'Optional[int]'": "x is None or type(x) is int",
    "np.ndarray": "isinstance(x, np.ndarray)",
    "numpy.typing.NDArray[np.float32]": "x.dtype == np.float32",
    "Shaped('float32', 'b 3')": "x.shape[1:] == (3,) and x.dtype == np.float32",
}
PRELUDE = """
import enum
import numpy as np
import numpy.typing
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
class Color(enum.Enum):
    RED = 1
    BLUE = 2
class Bound:
    def __init__(self, **bounds): vars(self).update(bounds)
def Gt(n): return Bound(gt=n)
def Ge(n): return Bound(ge=n)
def Lt(n): return Bound(lt=n)
def Le(n): return Bound(le=n)
def Len(least, most): return Bound(min_length=least, max_length=most)
class Interval:
    __is_annotated_types_grouped_metadata__ = ()
    def __init__(self, **bounds): self.bounds = bounds
    def __iter__(self): return (Bound(**{name: n}) for name, n in self.bounds.items())
def Shaped(dtype, dims):
    return type("Shaped", (), {"dtypes": [dtype], "dim_str": dims, "array_type": np.ndarray})
"""


@pytest.mark.parametrize(("hint", "holds"), HINTED.items())
def test_a_hint_says_what_an_argument_may_be(hint: str, holds: str) -> None:
    program = Annotated(f"{PRELUDE}\n@ensure({holds!r})\ndef f(x: {hint}): return None")

    assert program.problems == []
    assert program.calls("f").count(None) == 0
    assert program.statuses("f") == {"passed"}


def test_sizes_of_one_name_are_the_same_in_the_whole_call() -> None:
    program = Annotated(
        PRELUDE
        + """
        @ensure("a.shape[0] == b.shape[1] and b.shape[0] == 2 * c.shape[0] and c.shape[1] == n")
        @ensure("d.shape[:-1] == a.shape[1:-1] and a.shape[-1] == 3")
        @arg("n", ints(1, 4))
        def f(a: Shaped("float32", "b *rest 3"), b: Shaped("float32", "2*h b"),
              c: Shaped("float32", "h {n}"), d: Shaped("float32", "*rest _"), n): pass
        """.replace("\n        ", "\n")
    )

    assert program.problems == []
    assert program.statuses("f") == {"passed"}


def test_a_bare_type_does_not_replace_a_default() -> None:
    program = Annotated(f"{PRELUDE}\n@ensure('x == 3')\ndef f(x: int = 3): pass")

    assert program.statuses("f", 5) == {"passed"}


def test_an_annotation_counts_before_a_hint() -> None:
    program = Annotated("@arg('x', froms(['a']))\n@ensure('x == \"a\"')\ndef f(x: int): pass")

    assert program.statuses("f", 5) == {"passed"}


def test_hints_with_bounds_alone_make_a_function_tested() -> None:
    program = Annotated(
        PRELUDE
        + "def f(x: Annotated[int, Range(1, 5)], y: bool, z: str = ''): pass\n"
        + "def g(x: Annotated[int, Range(1, 5)], y: int): pass\n"
        + "def h(x: bool): pass\n"
    )

    assert [function.name for function in program.spec.tested()] == ["f"]
    assert program.statuses("f", 5) == {"passed"}


@pytest.mark.parametrize("hint", [object, "nothing", list, Any, dict[int, Any], set[int]])
def test_a_hint_of_no_known_form_says_nothing(hint: Any) -> None:
    assert hint_spec(hint, Encoder([], str)) is None


def test_two_runs_of_sizes_in_one_shape_are_not_read() -> None:
    hint = SimpleNamespace(dtypes=["float32"], dim_str="*a *b", array_type=np.ndarray)

    assert hint_spec(hint, Encoder([], str)) is None
