"""Proposals for small programs, by the rows of the paper's Table 1."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from ciguard.campaign import shipped_knowledge
from ciguard.suggesting import (
    FunctionProposals,
    explanation_lines,
    module_of,
    other_modules_of,
    suggestions,
)

PROGRAMS = Path(__file__).parents[3] / "seeds" / "functions"
known = cache(shipped_knowledge)


def suggested(
    source: str, pattern: str = "*", folder: Path = Path()
) -> dict[str, FunctionProposals]:
    """Return the proposals for a program by function; the folder holds its project."""
    path = (folder / "program.py").resolve()
    others = other_modules_of(path) if folder != Path() else []
    module = module_of(dedent(source), path, path.name)
    return {item.subject.name: item for item in suggestions(module, others, known, pattern)}


def values(source: str, folder: Path = Path()) -> dict[str, str]:
    """Return the proposed values of a program's only function, by argument."""
    (proposed,) = suggested(source, "f", folder).values()
    return {item.parameter: item.values for item in proposed.proposals if item.parameter}


def required(source: str) -> list[str]:
    """Return the proposed preconditions of a program's only function."""
    (proposed,) = suggested(source, "f").values()
    return [item.values for item in proposed.proposals if not item.parameter]


# --- checks of the function itself ----------------------------------------------------------------


def test_a_window_may_be_smaller_than_those_that_test_cases_use() -> None:
    found = values("""
        import torch.nn.functional as F

        def f(x, kernel_size=3):
            \"\"\"Blur images.

            :param x: a tensor of shape (n, c, h, w)
            :param kernel_size: int, between 1 and 8
            \"\"\"
            return F.avg_pool2d(x, kernel_size)
    """)

    assert found["kernel_size"] == "ints(min=1, max=8)"


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("assert 0 < v < 1", "floats(min=0, max=1, exclude_min=True, exclude_max=True)"),
        ("if v <= 0 or v > 1: raise ValueError(v)", "floats(min=0, max=1, exclude_min=True)"),
        ("if not 0 <= v < 1: raise ValueError(v)", "floats(min=0, max=1, exclude_max=True)"),
        ("if 1 < v: raise ValueError(v)", "floats(min=0.05, max=1)"),
        ("if 2.0 == v: pass", "floats(min=0.05, max=1)"),
    ],
)
def test_checks_give_open_and_closed_bounds(check: str, expected: str) -> None:
    assert values(f"def f(v=0.5):\n    {check}\n") == {"v": expected}


def test_bounds_of_integers_are_always_closed() -> None:
    assert values("def f(v=3):\n    assert 0 < v < 10\n") == {"v": "ints(min=1, max=9)"}


@pytest.mark.parametrize(
    "check",
    [
        "assert v in ('sgd', 'adam')",
        "if v not in ['sgd', 'adam']:\n        raise ValueError(v)",
        "if v != 'sgd' and v != 'adam':\n        raise ValueError(v)",
        """if v == 'sgd':
        pass
    elif v == 'adam':
        pass
    else:
        raise ValueError(v)""",
    ],
)
def test_a_checked_choice_gives_all_allowed_values(check: str) -> None:
    assert values(f"def f(v='sgd'):\n    {check}\n") == {"v": 'froms(["sgd", "adam"])'}


def test_none_is_proposed_only_if_the_function_handles_it() -> None:
    checked = "def f(n=None):\n    if n is None:\n        raise ValueError\n    return range(n)\n"
    handled = "def f(n=None):\n    if n is None:\n        n = 3\n    return range(n)\n"
    assert values(checked) == {"n": "ints(min=1, max=8)"}
    assert values(handled) == {"n": "anys(None, ints(min=1, max=8))"}


def test_a_default_of_none_alone_gives_no_proposal() -> None:
    (proposed,) = suggested("def f(thing=None):\n    return thing.run()\n").values()
    assert proposed.proposals == ()
    assert [(item.parameter, item.has_default) for item in proposed.unknown_arguments] == [
        ("thing", True)
    ]


def test_checks_of_types_and_lengths_are_read() -> None:
    source = """
        def f(sizes, value):
            assert isinstance(sizes, list) and len(sizes) <= 3
            assert isinstance(value, (int, float))
            for size in sizes:
                range(size)
    """
    assert values(source)["sizes"] == "int_lists(max_len=3, min=1, max=8)"
    assert values(source)["value"] == "ints(min=1, max=8)"


def test_relations_of_arguments_become_preconditions_with_their_branch() -> None:
    source = """
        def f(width, heads, sizes=-1, mode="a"):
            if width % heads != 0:
                raise ValueError
            if type(sizes) is list:
                if len(sizes) != heads:
                    raise AssertionError
            assert width > heads
    """
    assert required(source) == [
        "width % heads == 0",
        "type(sizes) is not list or len(sizes) == heads",
        "width > heads",
    ]


def test_checks_of_rebound_or_local_names_give_no_precondition() -> None:
    source = """
        def f(x, n=2):
            x = load(x)
            if len(x) < n:
                raise ValueError
            rows = n * 2
            assert rows > n
            for row in range(n):
                if row > n:
                    raise ValueError
    """
    assert required(source) == []


# --- libraries ------------------------------------------------------------------------------------


def test_arguments_of_library_calls_get_the_constraints_of_the_parameters() -> None:
    source = """
        from tensorflow.keras import layers
        import numpy as np

        def f(units, rate, filters, flag, seed, classes, names):
            layers.Conv2D(filters, (3, 3), activation="relu")
            layers.Dense(units * 2)
            layers.Dropout(rate)
            layers.Dense(classes, use_bias=flag)
            np.random.seed(seed)
    """
    assert values(source) == {
        "units": "ints(min=1, max=8)",
        "rate": "floats(min=0, max=1, exclude_max=True)",
        "filters": "ints(min=1, max=8)",
        "flag": "bools()",
        "seed": "ints(min=0, max=4294967295)",
        "classes": "ints(min=1, max=8)",
    }


def test_a_rebound_argument_gets_no_constraint_from_later_calls() -> None:
    source = """
        from keras import layers

        def f(x):
            x = int(x.split("/")[0])
            return layers.Dense(x)
    """
    assert values(source) == {"x": "strings(max_len=20)"}


def test_items_in_loops_get_constraints() -> None:
    source = """
        from torch import nn

        def f(widths, rates=(0.1, 0.2)):
            for number, width in enumerate(widths):
                nn.Linear(width, width)
            return [nn.Dropout(rate) for rate in rates]
    """
    assert values(source) == {
        "widths": "int_lists(min_len=1, max_len=5, min=1, max=8)",
        "rates": "tuples(floats(min=0.01, max=1), min_len=1, max_len=5)",
    }


def test_compared_texts_and_special_values_are_proposed() -> None:
    source = """
        def f(mode="a", layers=-1):
            if mode == "b" or mode in ("c", "d"):
                return
            if layers == -1:
                layers = 4
            for _ in range(layers):
                pass
    """
    assert values(source) == {
        "mode": 'froms(["b", "c", "d", "a"])',
        "layers": "anys(-1, ints(min=1, max=8))",
    }


def test_array_ranks_are_read_from_unpacked_shapes() -> None:
    source = """
        import numpy as np

        def f(image, other):
            height, width, channels = image.shape
            return other.mean()
    """
    assert values(source) == {
        "image": 'np_arrays("float32", np_shapes(min_dims=3, max_dims=3))',
        "other": 'np_arrays("float32")',
    }


# --- calls in the project -------------------------------------------------------------------------


def test_arguments_of_calls_in_the_program_are_widened_to_ranges() -> None:
    source = """
        SIZE = 6

        def f(size, shape, rate, names=None, x=None):
            pass

        def use():
            f(SIZE, (28, 28, 1), 0.001)
            for size in (3, 10):
                f(size, shape=(32, 32, 3), rate=1e-2)
    """
    assert values(source) == {
        "size": "ints(min=1, max=20)",
        "shape": "tuples(ints(min=14, max=64), ints(min=14, max=64), ints(min=1, max=3))",
        "rate": "floats(min=0.0001, max=0.1)",
    }


def test_command_line_options_are_read_as_examples() -> None:
    source = """
        import argparse

        def f(mode, epochs, quick):
            pass

        parser = argparse.ArgumentParser()
        parser.add_argument("--mode", choices=["train", "test"])
        parser.add_argument("--max-epochs", type=int, default=30)
        parser.add_argument("-q", "--quick", action="store_true")
        options = parser.parse_args()
        f(options.mode, options.max_epochs, quick=options.quick)
    """
    assert values(source) == {
        "mode": 'froms(["train", "test"])',
        "epochs": "ints(min=1, max=60)",
        "quick": "bools()",
    }


def test_calls_in_other_modules_notebooks_and_the_readme_are_read(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("")
    (tmp_path / "main.py").write_text("from program import f\nf(4)\n")
    (tmp_path / "other.py").write_text("from elsewhere import f\nf('no')\n")
    (tmp_path / "README.md").write_text("Try it:\n\n```python\nf(40)\n```\n")
    (tmp_path / "broken.py").write_text("def (\n")
    (tmp_path / "notes.ipynb").write_text(
        '{"cells": [{"cell_type": "code", "source": ["import program\\n", "program.f(2)"]}]}'
    )
    (proposed,) = suggested("def f(thing):\n    pass\n", folder=tmp_path).values()
    (proposal,) = proposed.proposals
    assert proposal.values == "ints(min=1, max=80)"
    assert sorted(proposal.reasons) == [
        "README.md:4 passes 40",
        "main.py:2 passes 4",
        "notes.ipynb:1 passes 2",
    ]


def test_calls_of_methods_and_constructors_are_found_through_their_class() -> None:
    source = """
        class Net:
            def __init__(self, width):
                self.width = width

            def grow(self, by):
                return self.shrink(2.5)

            def shrink(self, by):
                pass

        net = Net(12)
        net.grow(3)
    """
    proposed = suggested(source)
    assert {name: item.proposals[0].values for name, item in proposed.items()} == {
        "Net.__init__": "ints(min=1, max=24)",
        "Net.grow": "ints(min=1, max=8)",
        "Net.shrink": "floats(min=0.25, max=5)",
    }


def test_a_function_that_makes_an_argument_is_suggested_as_generator() -> None:
    source = """
        def build():
            return object()

        def f(model):
            pass

        f(build())
    """
    (proposed,) = suggested(source, "f").values()
    assert proposed.proposals == ()
    assert 'objs("build")' in proposed.unknown_arguments[0].reasons[-1]


# --- other functions of the project ---------------------------------------------------------------


def test_constraints_of_callees_are_propagated_to_callers() -> None:
    source = """
        from ciguard.annotations import arg, floats

        def f(rate, share, count):
            middle(rate, share=share)
            deep(count)

        def middle(rate, share):
            deep(1, rate)
            given(share)

        def deep(n, rate=0.5):
            assert 0.1 <= rate < 0.9
            assert n in (1, 2)

        @arg("share", floats(min=0.25, max=0.75))
        def given(share):
            pass
    """
    assert values(source) == {
        "rate": "floats(min=0.1, max=0.9, exclude_max=True)",
        "share": "floats(min=0.25, max=0.75)",
        "count": "anys(1, 2)",
    }


# --- signatures -----------------------------------------------------------------------------------


def test_type_hints_are_read() -> None:
    source = """
        def f(a: int | None, b: "list[int]", c: tuple[int, float], d: Literal["x", "y"],
              e: Optional[bool], g: np.ndarray, h: torch.Tensor, i: Thing, j: tuple[int, ...]):
            pass
    """
    assert values(source) == {
        "a": "anys(None, ints(min=1, max=8))",
        "b": "int_lists(min_len=1, max_len=5, min=1, max=8)",
        "c": "tuples(ints(min=1, max=8), floats(min=0, max=1))",
        "d": 'froms(["x", "y"])',
        "e": "anys(None, bools())",
        "g": 'np_arrays("float32")',
        "h": 'tensors("float32")',
    }


def test_parameter_names_are_used_if_nothing_else_is_known() -> None:
    source = "def f(epochs, use_bias, learning_rate, model, epoch, batch_size=3.5):\n    pass\n"
    assert values(source) == {
        "epochs": "ints(min=1, max=8)",
        "use_bias": "bools()",
        "learning_rate": "floats(min=0, max=1)",
        "epoch": "ints(min=0, max=8)",
        "batch_size": "floats(min=0.35, max=7)",
    }


# --- which functions ------------------------------------------------------------------------------


def test_annotated_arguments_and_excluded_functions_get_no_proposal() -> None:
    source = """
        from ciguard.annotations import arg, exclude, ints, require

        @arg("n", ints(1, 3))
        @require("n < k")
        def f(n, k):
            assert n < k

        @exclude
        def g(epochs):
            pass

        def _h(epochs):
            pass
    """
    proposed = suggested(source)
    assert list(proposed) == ["f"]
    assert [item.decorator for item in proposed["f"].proposals] == ['arg("k", ints(min=1, max=8))']
    assert list(suggested(source, "_*")) == ["_h"]


def test_explanations_list_reasons_with_lines_and_unknown_arguments() -> None:
    source = "def f(epochs, x):\n    assert epochs > 2\n    return x\n"
    assert list(explanation_lines(suggested(source).values())) == [
        "# f (line 1) is left out: nothing is known of x",
        '#   @arg("epochs", ints(min=3, max=10))',
        "#       line 2: assert epochs > 2",
        "#       the name epochs",
        "#   x: no proposal",
    ]


def test_a_file_with_a_syntax_error_is_rejected() -> None:
    with pytest.raises(ValueError, match="SyntaxError"):
        module_of("def (", Path("x.py"), "x.py")


def test_most_annotations_in_the_example_of_the_annotest_paper_are_proposed() -> None:
    tree = ast.parse((PROGRAMS / "densenet.py").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    proposed = suggested(ast.unparse(tree), "DenseNet")["DenseNet"]
    by_parameter = {item.parameter: item.values for item in proposed.proposals}
    assert by_parameter["compression"] == "floats(min=0, max=1, exclude_min=True)"
    assert by_parameter["bottleneck"] == "bools()"
    assert by_parameter["dense_layers"].startswith("anys(-1, ints(min=1, max=8), int_lists(")
    assert by_parameter[""] == "type(dense_layers) is not list or len(dense_layers) == dense_blocks"
    assert not proposed.unknown_arguments


# --- docstrings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        ("int", "ints(min=1, max=8)"),
        ("positive int", "ints(min=1, max=8)"),
        ("int, optional", "ints(min=1, max=8)"),
        ("int or None", "anys(None, ints(min=1, max=8))"),
        ("bool", "bools()"),
        ("float in the range [0, 1)", "floats(min=0, max=1, exclude_max=True)"),
        ("int between 2 and 6", "ints(min=2, max=6)"),
        ("int >= 3", "ints(min=3, max=10)"),
        ("int, a power of two", "froms([8, 16, 32])"),
        ("tuple of two integers", "tuples(ints(min=1, max=8), ints(min=1, max=8))"),
        (
            "tuple of ints of length 3",
            "tuples(ints(min=1, max=8), ints(min=1, max=8), ints(min=1, max=8))",
        ),
        ("(int, int)", "tuples(ints(min=1, max=8), ints(min=1, max=8))"),
        ("list of int", "int_lists(min_len=1, max_len=5, min=1, max=8)"),
        ("{'same', 'valid'}", 'froms(["same", "valid"])'),
        ("str, one of 'same' or 'valid'", 'froms(["same", "valid"])'),
        ("ndarray of shape (n_samples, 3)", 'np_arrays("float32", ("n_samples", 3))'),
        ("array-like, shape (n_samples,)", 'np_arrays("float32", ("n_samples",))'),
        ("(N, D) array", 'np_arrays("float32", ("N", "D"))'),
        ("2-D ndarray", 'np_arrays("float32", np_shapes(min_dims=2, max_dims=2))'),
    ],
)
def test_types_in_docstrings_are_read(described: str, expected: str) -> None:
    numpy = (
        f'def f(v):\n    """Do.\n\n    Parameters\n    ----------\n    v : {described}\n    """\n'
    )
    google = f'def f(v):\n    """Do.\n\n    Args:\n        v ({described}): The value.\n    """\n'

    assert values(numpy) == {"v": expected}
    if "(" not in described:
        assert values(google) == {"v": expected}


def test_sizes_in_docstrings_refer_to_arguments() -> None:
    source = '''
        def f(x, y, n):
            """Do.

            :param x: array of shape (n, d)
            :param y: array of shape (d,)
            :param int n: number of rows
            """
    '''
    assert values(source) == {
        "x": 'np_arrays("float32", (ref("n"), "d"))',
        "y": 'np_arrays("float32", ("d",))',
        "n": "ints(min=1, max=8)",
    }


def test_what_happens_in_a_range_is_no_range_of_valid_numbers() -> None:
    source = 'def f(p):\n    """Do.\n\n    Args:\n        p (float): Drop if > 0.5.\n    """\n'
    assert values(source) == {"p": "floats(min=0, max=1)"}


def test_descriptions_complete_the_hints_of_modern_signatures() -> None:
    source = '''
        def f(p: torch.Tensor, mask: torch.Tensor, y: np.ndarray, gamma: float, k: int):
            """Do.

            Args:
                p: Probabilities in [0, 1] of shape (batch,).
                mask: Boolean tensor, same shape as `p`.
                y: Positive values, one or two dimensions.
                gamma: Focusing parameter. Must be > 1.
                k: Number of neighbours, less than the length of `p`.
            """
    '''
    assert values(source) == {
        "p": 'tensors("float32", ("batch",), min=0, max=1)',
        "mask": 'tensors("bool", ref("p.shape"))',
        "y": 'np_arrays("float32", np_shapes(min_dims=1, max_dims=2), min=0.001)',
        "gamma": "floats(min=1, max=2, exclude_min=True)",
        "k": "ints(min=1, max=8)",
    }
    assert required(source) == ["k < len(p)"]


def test_a_documented_relation_does_not_concern_a_default_of_none() -> None:
    source = '''
        def f(n, width=None):
            """Do.

            Args:
                n (int): Size.
                width (int): Width, at most `n`.
            """
    '''
    assert required(source) == ["width is None or width <= n"]


@pytest.mark.parametrize(
    ("described", "default", "expected"),
    [
        ("(rows, columns)", "-1", 'ints(min=ref("-x.ndim"), max=ref("x.ndim - 1"))'),
        ("(n,)", "1", 'anys(1, ints(min=ref("-x.ndim"), max=ref("x.ndim - 1")))'),
    ],
)
@pytest.mark.parametrize(
    "call", ["x.sum(axis=axis)", "(x * 2).mean(axis)", "np.sort(x, axis=axis)"]
)
def test_an_axis_lies_within_the_dimensions_of_the_array(
    described: str, default: str, expected: str, call: str
) -> None:
    source = f'''
        import numpy as np

        def f(x, axis={default}):
            """Do.

            Args:
                x (ndarray): Shape {described}.
                axis (int): The axis.
            """
            return {call}
    '''
    assert values(source)["axis"] == expected


def test_prose_that_names_a_type_of_something_else_is_no_type() -> None:
    source = '''
        def f(n: int, device: torch.device = None):
            """Do.

            Args:
                n: Size.
                device: Used if the size is an int or float.
            """
    '''
    assert values(source) == {"n": "ints(min=1, max=8)"}


def test_a_hinted_length_outranks_a_loop_and_a_hint_outranks_a_check_for_none() -> None:
    source = '''
        def f(size: tuple[int, int], x: np.ndarray, mode: str):
            """Do.

            Args:
                size: Height and width.
                x: Shape (n,).
                mode: ``'sobel'`` or ``'diff'``.
            """
            if x is not None and not isinstance(x, np.ndarray):
                raise TypeError
            for side in size:
                range(side)
    '''
    assert values(source) == {
        "size": "tuples(ints(min=1, max=8), ints(min=1, max=8))",
        "x": 'np_arrays("float32", ("n",))',
        "mode": 'froms(["sobel", "diff"])',
    }


def test_functions_of_integers_of_unknown_range_are_left_out() -> None:
    source = '''
        def unknown(labels: NDArray[np.int64]):
            """Do.

            Args:
                labels: Shape (n,).
            """
        def known(labels: NDArray[np.int64]):
            """Do.

            Args:
                labels: Labels in [0, 9] of shape (n,).
            """
    '''
    assert left_out(source) == {
        "unknown": "the range of the integers in labels is unknown",
        "known": "",
    }


@pytest.mark.parametrize(
    "body",
    ["assert size & (size - 1) == 0", "depth = int(math.log2(size))"],
)
def test_powers_of_two_are_recognised(body: str) -> None:
    assert values(f"import math\ndef f(size=64):\n    {body}\n") == {"size": "froms([32, 64, 128])"}


# --- whole functions ------------------------------------------------------------------------------


def left_out(source: str) -> dict[str, str]:
    return {name: item.left_out for name, item in suggested(source).items()}


def test_functions_of_which_an_argument_is_unknown_are_left_out() -> None:
    source = """
        import numpy as np

        def known(epochs): pass
        def unknown(epochs, x, y): pass
        def defaulted(epochs, x=None): pass
        def unranked(a):
            return a.mean()
    """
    assert left_out(source) == {
        "known": "",
        "unknown": "nothing is known of x and y",
        "defaulted": "",
        "unranked": "the number of dimensions of a is unknown",
    }


def test_methods_are_left_out_with_the_constructor_of_their_class_or_its_base() -> None:
    source = """
        class Net:
            def __init__(self, body): pass
            def train(self, epochs): pass
            @staticmethod
            def size(epochs): pass
        class Wide(Net):
            def widen(self, width): pass
        class Plain:
            def train(self, epochs): pass
    """
    reason = "its constructor is left out, as nothing is known of body"
    assert left_out(source) == {
        "Net.__init__": "nothing is known of body",
        "Net.train": reason,
        "Net.size": "",
        "Wide.widen": reason,
        "Plain.train": "",
    }


def test_private_functions_are_never_proposed() -> None:
    source = """
        def _helper(epochs): pass
        class Net:
            def __mangled(self, epochs): pass
            def __init__(self, epochs): pass
        class _Hidden:
            def __init__(self, epochs): pass
            def train(self, epochs): pass
    """
    assert [*suggested(source)] == ["Net.__init__"]


def test_functions_without_arguments_are_included_unless_they_are_entry_points() -> None:
    source = """
        def answer(): return 42
        def main(): pass
        def ask(): return input()
        @timeout(3)
        def timed(): pass
        def variadic(*args): pass
    """
    proposed = {
        name: [proposal.decorator for proposal in item.proposals]
        for name, item in suggested(source).items()
    }
    assert {name for name, decorators in proposed.items() if decorators == ["include"]} == {
        "answer"
    }


def test_a_proposal_from_a_name_alone_is_a_guess() -> None:
    (item,) = suggested("def f(epochs, size=4): pass").values()

    assert [proposal.is_guess for proposal in item.proposals] == [True, False]


def test_the_number_of_dimensions_is_that_of_the_indices() -> None:
    source = "import numpy\ndef f(x, y):\n    return x[0, :, 1] + y[..., 0] + y.sum()\n"
    assert values(source) == {
        "x": 'np_arrays("float32", np_shapes(min_dims=3, max_dims=3))',
        "y": 'np_arrays("float32")',
    }


def test_functions_of_shapes_of_unknown_length_are_left_out() -> None:
    source = """
        import keras

        def build(shape):
            return keras.Input(shape=shape)
        def called(shape):
            return keras.Input(shape=shape)
        called((8, 8, 3))
    """
    assert left_out(source) == {"build": "the length of shape is unknown", "called": ""}


def test_functions_of_sizes_that_may_contradict_each_other_are_left_out() -> None:
    source = """
        import numpy as np

        def crop(image, size):
            height, width = image.shape
            return image[:size, :size]
        def scaled(image, factor=2):
            height, width = image.shape
            return image * factor
    """
    assert left_out(source) == {
        "crop": "how size relates to the sizes of image is unknown",
        "scaled": "",
    }
