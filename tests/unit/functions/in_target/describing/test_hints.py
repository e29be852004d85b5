from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from annotated import Annotated
from jaxtyping import BFloat16, Float

from ciguard.functions.in_target.describing.encoding import ConstraintEncoder
from ciguard.functions.in_target.describing.hints import hint_of

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
    "Switch": "type(x) is bool",
    "Many[Switch]": "type(x) is list and all(type(i) is bool for i in x)",
    "Pair[int, bool]": "type(x[0]) is bool and type(x[1]) is int",
    "Float32[np.ndarray, 'b 3']": "x.shape[1:] == (3,) and x.dtype == np.float32",
    "Float16[np.ndarray, '']": "x.shape == () and x.dtype == np.float16",
    "Int[np.ndarray, 'n']": "x.dtype == np.int64",
    "Shaped[np.ndarray, 'n']": "x.dtype == np.float64",
    "Bool[np.ndarray, '... width=2'] | None": "x is None or x.dtype == bool and x.shape[-1] == 2",
}
PRELUDE = """
import enum
import numpy as np
import numpy.typing
from typing import Annotated, Dict, List, Literal, Optional, Tuple, TypeVar, Union
from annotated_types import Ge, Gt, Interval, Le, Len, Lt
from jaxtyping import Bool, Float, Float16, Float32, Int, Shaped
from typing_extensions import TypeAliasType
A, B = TypeVar("A"), TypeVar("B")
Switch = TypeAliasType("Switch", bool)
Many = TypeAliasType("Many", List[A], type_params=(A,))
Pair = TypeAliasType("Pair", Tuple[B, A], type_params=(A, B))
Tree = TypeAliasType("Tree", List["Branches"])
Branches = TypeAliasType("Branches", List[Tree])
class Color(enum.Enum):
    RED = 1
    BLUE = 2
"""


@pytest.mark.parametrize(("hint", "condition"), HINTED.items())
@pytest.mark.lengthy
def test_arguments_are_drawn_by_their_type_hint(hint: str, condition: str) -> None:
    program = Annotated(f"{PRELUDE}\n@ensure({condition!r})\ndef f(x: {hint}): return None")

    assert program.problems == []
    assert program.calls("f").count(None) == 0
    assert program.statuses("f") == {"passed"}


def test_a_recursive_alias_has_no_values() -> None:
    program = Annotated(f"{PRELUDE}\n@ensure('True')\ndef f(x: Branches): return None")

    assert len(program.problems) == 1
    assert "'x' of f is not annotated" in program.problems[0]


def test_sizes_with_the_same_symbol_are_equal_in_a_call() -> None:
    program = Annotated(
        PRELUDE
        + """
        @ensure("a.shape[0] == b.shape[1] and b.shape[0] == 2 * c.shape[0] and c.shape[1] == n")
        @ensure("d.shape[:-1] == a.shape[1:-1] and a.shape[-1] == 3")
        @arg("n", ints(1, 4))
        def f(a: Float[np.ndarray, "b *rest 3"], b: Float[np.ndarray, "2*h b"],
              c: Float[np.ndarray, "h {n}"], d: Float[np.ndarray, "*rest _"], n): pass
        """.replace("\n        ", "\n")
    )

    assert program.problems == []
    assert program.statuses("f") == {"passed"}


def test_a_bare_type_does_not_replace_a_default() -> None:
    program = Annotated(f"{PRELUDE}\n@ensure('x == 3')\ndef f(x: int = 3): pass")

    assert program.statuses("f", 5) == {"passed"}


def test_an_annotation_takes_precedence_over_a_hint() -> None:
    program = Annotated("@arg('x', froms(['a']))\n@ensure('x == \"a\"')\ndef f(x: int): pass")

    assert program.statuses("f", 5) == {"passed"}


def test_a_function_is_tested_if_hints_bound_all_arguments() -> None:
    program = Annotated(
        PRELUDE
        + "def f(x: Annotated[int, Range(1, 5)], y: bool, z: str = ''): pass\n"
        + "def g(x: Annotated[int, Range(1, 5)], y: int): pass\n"
        + "def h(x: bool): pass\n"
    )

    assert [function.name for function in program.spec.tested()] == ["f"]
    assert program.statuses("f", 5) == {"passed"}


@pytest.mark.parametrize("hint", [object, "nothing", list, Any, dict[int, Any], set[int]])
def test_an_unknown_hint_gives_no_constraint(hint: Any) -> None:
    assert hint_of(hint, ConstraintEncoder([], str)) is None


def test_a_shape_that_constraints_cannot_express_gives_no_constraint() -> None:
    assert hint_of(Float[np.ndarray, "b {self.width}"], ConstraintEncoder([], str)) is None
    assert hint_of(BFloat16[np.ndarray, "b"], ConstraintEncoder([], str)) is None


def test_a_function_is_tested_if_hints_give_all_shapes() -> None:
    program = Annotated(
        PRELUDE
        + "def f(x: Float[np.ndarray, 'n'], y: Float[np.ndarray, 'n'], z: int = 1):\n"
        + "    assert x.shape == y.shape and x.dtype == y.dtype\n"
        + "def g(x: Float[np.ndarray, 'n'], y: int): pass\n"
        + "def h(x: list[bool]): pass\n"
    )

    assert [function.name for function in program.spec.tested()] == ["f"]
    assert program.statuses("f") == {"passed"}
