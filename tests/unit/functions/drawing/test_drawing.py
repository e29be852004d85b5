"""Drawn values conform to their annotations, checked on the actual objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from annotated import Annotated
from hypothesis import HealthCheck, find, given, settings

from ciguard.domain.values import ListValue, TupleValue
from ciguard.functions.drawing.calls import call_strategy, main_strategy

if TYPE_CHECKING:
    from ciguard.functions.specs import Call

CONDITION_BY_CONSTRAINT = {
    "bools()": "type(x) is bool",
    "ints()": "type(x) is int and abs(x) <= 1000",
    "ints(min=5)": "x >= 5",
    "ints(max=-3000)": "x <= -3000",
    "ints(3, 3)": "x == 3",
    "ints(-2**80, 2**80)": "type(x) is int",
    "floats()": "type(x) is float and abs(x) <= 1e6",
    "floats(min=0, max=1, exclude_min=True)": "0 < x <= 1",
    "floats(0, 1, exclude_min=True, exclude_max=True, width=16)":
        "0 < x < 1 and np.float16(x) == x",
    "floats(min=2e9)": "2e9 <= x < inf",
    "floats(0, 1, nan=True)": "x != x or 0 <= x <= 1",
    "floats(min=0, inf=True)": "0 <= x",
    "floats(inf=True, nan=True)": "type(x) is float",
    "floats(min=float('-inf'), max=0)": "-inf < x <= 0",
    "strings()": "type(x) is str",
    "strings(2, 4, alphabet='ab')": "2 <= len(x) <= 4 and set(x) <= {'a', 'b'}",
    "strings(pattern='[a-c]+_[0-9]')": "re.fullmatch('[a-c]+_[0-9]', x)",
    "lists(bools(), 1, 3)": "type(x) is list and 1 <= len(x) <= 3",
    "lists(int_lists(1, 2, 0, 1), 2, 2)": "len(x) == 2 and set(x[0] + x[1]) <= {0, 1}",
    "int_lists(min_len=7)": "len(x) >= 7 and all(type(i) is int for i in x)",
    "tuples(bools(), 'a', ints(1, 2))": "type(x) is tuple and len(x) == 3 and x[1] == 'a'",
    "tuples()": "x == ()",
    "tuples(ints(1, 2), min_len=2)": "type(x) is tuple and len(x) >= 2 and set(x) <= {1, 2}",
    "np_shapes()": "type(x) is tuple and 1 <= len(x) <= 4 and all(1 <= s <= 8 for s in x)",
    "np_shapes(max_dims=0)": "x == ()",
    "np_shapes(6, min_side=3, max_side=4)": "len(x) == 6 and set(x) <= {3, 4}",
    "np_arrays()": "isinstance(x, np.ndarray) and x.ndim >= 1",
    "np_arrays(np_type=np.dtype('uint32'), shape=(25, 25, 3))":
        "x.shape == (25, 25, 3) and x.dtype == np.uint32",
    "np_arrays('uint8', (20, 20))": "x.dtype == np.uint8",
    "np_arrays('float32', min=0, max=1)": "x.min() >= 0 and x.max() <= 1",
    "np_arrays(['float64'], (2, ints(3, 4), None), nan=True)": "x.shape[0] == 2 and x.ndim == 3",
    "np_arrays(int, np_shapes(1, 1, max_side=3), min=-3)": "x.size <= 3 and x.min() >= -3",
    "np_arrays('float32', ())": "x.shape == ()",
    "np_arrays('float32', froms([(2,), (3, 1)]))": "x.shape in ((2,), (3, 1))",
    "np_arrays('bool', tuples(ints(1, 2), 5))": "x.shape in ((1, 5), (2, 5)) and x.dtype == bool",
    "np_arrays(dtypes('int8', 'int16'))": "x.dtype in (np.int8, np.int16)",
    "dtypes('float32', library='numpy')": "x == np.float32",
    "dicts(froms(['a', 'b']), bools(), 1, 2)": "type(x) is dict and 1 <= len(x) <= 2",
    "dicts(ints(1, 3), np_arrays('int8'), min_size=2)": "len(x) >= 2 and set(x) <= {1, 2, 3}",
    "dicts(strings(), lists(ints()), max_size=1)": "type(x) is dict and len(x) <= 1",
    "anys(-1, None, ints(4, 5), 'a')": "x in (-1, None, 4, 5, 'a')",
    "froms([0, 0.0, None, False, (1, [2]), {'a': b''}])":
        "repr(x) in ('0', '0.0', 'None', 'False', '(1, [2])', \"{'a': b''}\")",
    "froms([np.float32(2), np.arange(3), len, np.tanh, Color.RED, Color])":
        "x is len or x is np.tanh or x is Color.RED or x is Color or np.size(x) in (1, 3)",
    "lists(objs(made), 1, 2)": "all(1 <= i <= 3 for i in x)",
    "objs(Box)": "isinstance(x, Box) and x.size in (1, 2)",
    "objs('several')": "x in (5, 6)",
}  # fmt: skip
PRELUDE = """
import enum, re
import numpy as np
inf = float("inf")
class Color(enum.Enum):
    RED = 1
@generator
@exclude
@arg("n", ints(1, 9))
@require("n <= 3")
def made(n): return n
class Box:
    @arg("size", ints(1, 2))
    def __init__(self, size): self.size = size
@generator
@exclude
@arg("n", ints(5, 6))
def several(n):
    while True: yield n
"""


@pytest.mark.parametrize(("constraint", "condition"), CONDITION_BY_CONSTRAINT.items())
@pytest.mark.lengthy
def test_a_drawn_value_conforms_to_its_annotation(constraint: str, condition: str) -> None:
    source = f"{PRELUDE}\n@arg('x', {constraint})\n@ensure({condition!r})\ndef f(x): pass"
    program = Annotated(source)

    assert program.problems == []
    assert program.calls("f").count(None) == 0
    results = program.results("f")
    assert [result["message"] for result in results if result["status"] == "failed"] == []
    assert {result["status"] for result in results} == {"passed"}


@pytest.mark.parametrize(("constraint", "condition"), CONDITION_BY_CONSTRAINT.items())
@pytest.mark.lengthy
def test_a_value_drawn_by_hypothesis_conforms_to_its_annotation(
    constraint: str, condition: str
) -> None:
    source = f"{PRELUDE}\n@arg('x', {constraint})\n@ensure({condition!r})\ndef f(x): pass"
    program = Annotated(source)

    @settings(
        max_examples=25, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(call_strategy(program.spec.function("f"), program.spec))
    def run(call: Call) -> None:
        assert program.run(call)["status"] == "passed"

    run()


REFERENCES = """
@arg("labels", np_arrays("int64", (ref("x.shape[0]"),), min=0, max=ref("classes - 1")))
@arg("x", np_arrays(["float32", "float64"], (ints(1, 9), 4)))
@arg("y", np_arrays(ref("x.dtype"), ref("x.shape")))
@arg("classes", ints(2, 10))
@arg("sizes", int_lists(ref("classes"), ref("classes + 1"), max=ref("len(x)")))
@arg("pad", np_arrays("int8", (ref("x.ndim"), ref("max(classes, 3) // 2"))))
@ensure("labels.shape == (len(x),) and labels.max() < classes")
@ensure("y.shape == x.shape and y.dtype == x.dtype")
@ensure("classes <= len(sizes) <= classes + 1 and max(sizes) <= len(x)")
@ensure("pad.shape == (2, max(classes, 3) // 2)")
def f(x, labels, y, classes, sizes, pad, unused=3): pass
"""


def test_references_are_resolved_for_any_order_of_arguments() -> None:
    program = Annotated(REFERENCES)

    assert program.problems == []
    assert program.calls("f").count(None) == 0
    assert program.statuses("f") == {"passed"}


def test_references_and_conditions_may_name_a_default() -> None:
    program = Annotated(
        "@arg('x', ints(0, ref('n')))\n@require('x < n')\n@ensure('x < 3')\ndef f(x, n=3): pass"
    )

    assert program.calls("f").count(None) == 0
    assert program.statuses("f") == {"passed"}


def test_the_same_seed_draws_the_same_calls() -> None:
    program = Annotated(REFERENCES)

    assert program.calls("f", 20) == program.calls("f", 20)


def test_every_value_of_a_long_range_can_be_drawn() -> None:
    program = Annotated("@arg('depth', ints(10, 100))\ndef f(depth): pass")

    drawn = {call.arguments for call in program.calls("f", 2000) if call is not None}

    assert len(drawn) == 91


def test_a_huge_shape_is_reduced_to_fit_into_memory() -> None:
    program = Annotated(
        "@arg('x', np_arrays('int8', np_shapes(4, 6, max_side=500)))\n"
        "@ensure('x.size <= 2**20')\ndef f(x): pass"
    )

    assert program.statuses("f", 10) == {"passed"}


def test_the_command_line_of_a_script_is_drawn() -> None:
    program = Annotated("module_test(args=['--size', ints(1, 3)])")
    assert program.spec.main is not None

    call = find(main_strategy(program.spec.main), lambda _: True)

    ((name, args),) = call.arguments
    assert (call.function, name) == ("__main__", "args")
    assert isinstance(args, TupleValue | ListValue)
    assert len(args.items) == 2


def test_uint8_arrays_have_values_of_the_whole_pixel_range() -> None:
    program = Annotated("@arg('x', np_arrays('uint8', (8, 8, 3)))\ndef f(x): assert x.max() < 200")

    assert program.statuses("f") == {"passed", "failed"}


def test_attributes_set_from_constructor_arguments_are_known_for_self() -> None:
    program = Annotated(
        """
        import numpy as np
        class Layer:
            @arg("heads", ints(1, 4))
            @arg("sizes", int_lists(2, 3, 1, 30))
            def __init__(self, heads, sizes, depth=2):
                self.width = heads * 8
                self.first = self.width + depth
                self.sizes = list(sizes)
                self.inner = sizes
                self.count = 0
                for _ in sizes:
                    self.last = 7
                self.count += 1
            def __len__(self): return int(np.ceil(self.width / 1))
            @arg("x", np_arrays("float32", (ints(1, 40), ints(1, 40))))
            @require("x.shape[1] == self.first and len(x) <= self.inner[0]")
            def forward(self, x): pass
            @arg("i", ints(0, 40))
            @require(lambda self, i: i < len(self))
            def at(self, i): pass
        """
    )

    constructor = program.spec.function("Layer.__init__")
    assert dict(constructor.attributes) == {
        "width": "heads * 8",
        "first": "heads * 8 + depth",
        "inner": "sizes",
        "__len__": "int(np.ceil(heads * 8 / 1))",
    }
    for name in ("Layer.forward", "Layer.at"):
        assert None not in program.calls(name)
        assert program.statuses(name) == {"passed"}


@pytest.mark.parametrize(
    "body",
    [
        "self.n = n\n        n = 3",
        "n += 1\n        self.n = n",
        "self.n = n\n    def other(self): self.n = 4",
        "if n: self.n = n",
        "self.n = build(n)",
        "self.n = n.copy()",
    ],
)
def test_attributes_that_may_differ_from_arguments_are_left_out(body: str) -> None:
    program = Annotated(
        f"class C:\n    @arg('n', ints(0, 3))\n    def __init__(self, n):\n        {body}\n"
        "    @arg('x', ints(0, 3))\n    def at(self, x): pass"
    )

    assert program.spec.function("C.__init__").attributes == ()


def test_fields_of_a_dataclass_are_known_for_self() -> None:
    program = Annotated(
        """
        import dataclasses
        @dataclasses.dataclass
        class Config:
            depth: Annotated[int, Range(1, 4)]
            @arg("i", ints(0, 40))
            @require("i == self.depth")
            def at(self, i): pass
        """.replace(
            "import dataclasses", "import dataclasses\n        from typing import Annotated"
        )
    )

    assert None not in program.calls("Config.at")
    assert program.statuses("Config.at") == {"passed"}


def test_references_can_use_attributes_of_a_generated_object() -> None:
    program = Annotated(
        """
        class Config:
            @arg("depth", ints(1, 4))
            def __init__(self, depth): self.depth = depth
        @arg("config", objs(Config))
        @arg("sizes", int_lists(ref("config.depth"), ref("config.depth"), 1, 9))
        @ensure("len(sizes) == config.depth")
        def build(config, sizes): pass
        """
    )

    assert program.problems == []
    assert program.statuses("build") == {"passed"}
