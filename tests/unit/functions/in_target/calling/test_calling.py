from __future__ import annotations

import pytest
from annotated import Annotated

from ciguard.functions.specs import Call

DENSENET = """
@arg("dense_blocks", ints(min=2, max=5))
@arg("dense_layers", anys(-1, ints(min=1, max=5), int_lists(min_len=2, max_len=5, min=2, max=5)))
@arg("depth", ints(min=10, max=100))
@require("type(dense_layers) is not list or len(dense_layers) == dense_blocks")
def dense_net(dense_blocks=3, dense_layers=-1, depth=40):
    if type(dense_layers) is list:
        if len(dense_layers) != dense_blocks:
            raise AssertionError("Dense blocks must be the same as layers")
    elif dense_layers == -1:
        dense_layers = (depth - 4) / 3
    return [range(layers) for layers in (dense_layers,) if not isinstance(layers, list)]
"""


def test_the_example_of_the_annotest_paper_fails_only_with_its_known_bug() -> None:
    program = Annotated(DENSENET)

    results = program.results("dense_net")

    assert {result["status"] for result in results} == {"passed", "failed"}
    assert {result["type"] for result in results if result["status"] == "failed"} == {"TypeError"}
    assert {result["kind"] for result in results if result["status"] == "failed"} == {"exception"}


def test_a_call_survives_a_json_round_trip() -> None:
    for call in Annotated(DENSENET).calls("dense_net", 50):
        assert call is not None
        assert Call.from_json(call.to_json()) == call


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("@arg('x', ints(1, 5))\n@ensure('result > x')\ndef f(x): return x", "ensure"),
        (
            """
            @arg('x', np_arrays('float32', (2,)))
            @ensure('result.dtype == x.dtype')
            def f(x): return x.astype('float64')
            """,
            "ensure",
        ),
        ("@arg('x', floats(1, 5))\ndef f(x): return [x, float('nan')]", "nan"),
        ("@arg('x', ints(1, 5))\ndef f(x): raise SystemExit(3)", "exception"),
        ("@arg('x', ints(1, 5))\ndef f(x): yield 1 / 0", "exception"),
        ("@arg('x', ints(1, 5))\nasync def f(x): return 1 / 0", "exception"),
    ],
)
def test_failures_are_reported_with_their_kind(source: str, kind: str) -> None:
    results = Annotated(source).results("f", 10)

    assert {result["status"] for result in results} == {"failed"}
    assert {result["kind"] for result in results} == {kind}


@pytest.mark.parametrize(
    "source",
    [
        "@arg('x', ints(1, 5))\n@raises(KeyError)\ndef f(x): return {}[x]",
        "@arg('x', ints(1, 5))\n@raises(LookupError)\ndef f(x): return {}[x]",
        '''
        @arg('x', ints(1, 5))
        def f(x):
            """Look up.

            Raises:
                KeyError: always.
            """
            return {}[x]
        ''',
        "@arg('x', froms([float('nan')]))\ndef f(x): return x",
        "@arg('x', ints(1, 5))\ndef f(x):\n while True: yield x",
        "@arg('x', ints(1, 5))\ndef f(x): raise SystemExit(0)",
    ],
)
def test_documented_declared_and_allowed_results_pass(source: str) -> None:
    assert Annotated(source).statuses("f", 10) == {"passed"}


def test_a_precondition_on_actual_objects_discards_calls() -> None:
    program = Annotated("@arg('x', froms([object(), 1]))\n@require('hash(x) == 1')\ndef f(x): pass")

    assert program.statuses("f") == {"passed", "discarded"}


def test_changed_arguments_are_reported() -> None:
    program = Annotated("@arg('xs', int_lists(1, 3))\n@arg('y', ints())\ndef f(xs, y): xs.pop()")

    assert {tuple(result["mutated"]) for result in program.results("f", 20)} == {("xs",)}


def test_an_object_in_froms_is_copied_for_each_call() -> None:
    program = Annotated(
        """
        class Box:
            items = None
        @arg("box", froms([Box()]))
        @ensure("result is None")
        def f(box):
            before, box.items = box.items, 1
            return before
        """
    )

    assert program.statuses("f", 5) == {"passed"}


def test_a_method_is_called_on_an_instance_with_drawn_constructor_arguments() -> None:
    program = Annotated(
        """
        class Layer:
            @arg("size", ints(1, 4))
            def __init__(self, size): self.size = size
            @arg("n", ints(0, 3))
            @require("n < self.size")
            @ensure("result > 0")
            def left(self, n): return self.size - n
        """
    )

    assert program.problems == []
    assert program.statuses("Layer.left") == {"passed"}
    assert program.statuses("Layer.__init__") == {"passed"}


def test_a_failing_constructor_is_reported_as_no_instance() -> None:
    program = Annotated(
        """
        class Layer:
            def __init__(self): raise ValueError("no")
            @arg("n", ints(0, 3))
            def left(self, n): pass
        """
    )

    result = program.results("Layer.left", 1)[0]

    assert result["status"] == "no-instance"
    assert result["reason"] == "ValueError: no"


def test_instances_are_made_from_the_examples_if_there_are_any() -> None:
    program = Annotated(
        """
        class Layer:
            @arg("size", ints(1, 4))
            @cc_example([7, len])
            def __init__(self, size, make=None): self.size = size
            @arg("n", ints(0, 3))
            @ensure("result == 7")
            def left(self, n): return self.size
        """
    )

    assert program.statuses("Layer.left") == {"passed"}


def test_generators_make_arguments_with_drawn_arguments() -> None:
    program = Annotated(
        """
        class Model:
            def __init__(self, size): self.size = size
        @generator
        @exclude
        @arg("size", ints(2, 4))
        def models(size): return Model(size)
        @arg("model", objs(models))
        @arg("other", anys(None, objs("models")))
        @ensure("2 <= result <= 4")
        def f(model, other): return model.size
        """
    )

    assert [f.name for f in program.spec.tested()] == ["f"]
    assert program.statuses("f") == {"passed"}


def test_class_methods_static_methods_and_properties_are_called_correctly() -> None:
    program = Annotated(
        """
        class Layer:
            @classmethod
            @arg("n", ints(1, 3))
            @ensure("result[0] is Layer")
            def made(cls, n): return cls, n
            @staticmethod
            @arg("n", ints(1, 3))
            @ensure("result == n")
            def same(n): return n
            @property
            @ensure("result == 5")
            def five(self): return 5
        """
    )

    for name in ("Layer.made", "Layer.same", "Layer.five"):
        assert program.statuses(name, 10) == {"passed"}, name


def test_positional_only_and_variadic_arguments_are_passed_correctly() -> None:
    program = Annotated(
        """
        @arg("first", ints(1, 2))
        @arg("rest", int_lists(1, 3))
        @arg("options", dicts(froms(["shape"]), np_shapes(min_dims=1, max_dims=1)))
        @ensure("result == (1, 1)")
        def f(first, /, *rest, **options):
            return min(first, 1), min(len(rest), 1)
        """
    )

    assert program.statuses("f") == {"passed"}


def test_an_object_with_a_name_in_the_module_is_not_copied() -> None:
    program = Annotated(
        """
        class Sentinel: pass
        DEFAULT = Sentinel()
        @arg("x", froms([DEFAULT, DEFAULT]))
        @ensure("result is DEFAULT")
        def f(x): return x
        """
    )

    assert program.statuses("f", 5) == {"passed"}


def test_abstract_classes_are_reported_as_no_instance() -> None:
    program = Annotated(
        """
        import abc
        class Schedule(abc.ABC):
            @arg("rate", floats(0, 1))
            def __init__(self, rate): self.rate = rate
            @abc.abstractmethod
            @arg("step", ints(0, 3))
            def at(self, step): ...
        class Constant(Schedule):
            @arg("step", ints(0, 3))
            @ensure("result <= 1")
            def at(self, step): return self.rate
        """
    )

    assert program.statuses("Schedule.__init__") == {"no-instance"}
    assert program.statuses("Schedule.at") == {"no-instance"}
    assert program.statuses("Constant.at") == {"passed"}


LAYER = """
class Layer:  # as that of Keras, which builds a layer when it is called first
    built = False
    def __call__(self, inputs, **options):
        if not self.built:
            self.build(len(inputs))
        return self.call(inputs, **options)
Layer.__module__ = "keras.src.layers.layer"

class Scale(Layer):
    @arg("by", ints(1, 3))
    def __init__(self, by): self.by = by
    def build(self, count): self.weights, self.built = [self.by] * count, True
    @arg("inputs", lists(ints(0, 3), max_len=3))
    @arg("training", bools())
    @ensure("len(result) == len(inputs)")
    def call(self, inputs, training=False):
        return [w * x for w, x in zip(self.weights, inputs, strict=True)]
    @arg("inputs", lists(ints(0, 3), max_len=3))
    def direct(self, inputs): return self.weights
"""


def test_a_keras_layer_is_built_before_its_method_is_called() -> None:
    program = Annotated(LAYER)

    assert program.problems == []
    assert program.statuses("Scale.call") == {"passed"}
    assert program.statuses("Scale.direct") == {"failed"}


DATACLASS = """
import dataclasses
{}
@dataclasses.dataclass
class Example:
    tokens: list
    label: int = 0

    @arg("n", ints(0, 3))
    @ensure("result <= 2 * n")
    def first(self, n): return len(self.tokens[:n]) + len(self.tokens[:n])
"""


def test_a_dataclass_can_be_annotated_above_the_class() -> None:
    program = Annotated(DATACLASS.format('@arg("tokens", int_lists(0, 3))'))

    assert program.problems == []
    assert program.statuses("Example.first") == {"passed"}
    assert program.statuses("Example.__init__") == {"passed"}


def test_a_missing_annotation_of_a_dataclass_is_reported_at_the_class() -> None:
    (problem,) = Annotated(DATACLASS.format("")).spec.problems

    assert "argument 'tokens' of Example.__init__ is not annotated" in problem.message
    assert problem.line in (5, 6)  # decorator or class, depending on Python's version


@pytest.mark.parametrize(("size", "status"), [("1.0", "failed"), ("5e-324", "passed")])
def test_nan_is_allowed_for_extreme_constructor_arguments(size: str, status: str) -> None:
    program = Annotated(
        f"class C:\n    @arg('size', froms([{size}]))\n    def __init__(self, size): pass\n"
        "    @arg('x', ints(1, 3))\n    def at(self, x): return float('nan')"
    )

    assert program.statuses("C.at", 5) == {status}


def test_arrays_of_dask_are_computed() -> None:
    pytest.importorskip("dask.array")
    program = Annotated("""
        import dask.array
        import numpy

        @arg("n", ints(1, 3))
        def fails(n):
            return dask.array.ones(n).map_blocks(lambda block: block.reshape(7), dtype=float)

        @arg("n", ints(1, 3))
        def holds(n):
            return dask.array.ones(n)

        @arg("n", ints(1, 3))
        def masked(n):
            return numpy.ma.masked_array([float("nan")] * n, mask=[True] * n)
    """)

    assert program.statuses("fails", 5) == {"failed"}
    assert program.statuses("holds", 5) == program.statuses("masked", 5) == {"passed"}
    lazy = {function.name for function in program.spec.functions if function.is_consumed}
    assert lazy == {"fails", "holds"}
