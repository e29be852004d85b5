from __future__ import annotations

import ast
import io
import json
import tokenize
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from finding_examples import call, finding, pair
from hypothesis import given
from hypothesis import strategies as st
from layer_findings import layer_case, layer_death, layer_difference

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.models import GraphOrigin
from ciguard.domain.outcomes import Crashed, Exhausted, Hung, Outcome, Passed, Rejected, Resource
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    DtypeValue,
    Explicit,
    LiteralValue,
    MemberValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
    value_to_json,
)
from ciguard.execution.worker.fills import elements
from ciguard.libraries import LIBRARIES
from ciguard.triage import EnvironmentHint, script
from ciguard.writing import UNIT_FUNCTION, ScriptSource, writer_of

HINT = EnvironmentHint(install=("planted==1.0",))
DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bfloat16", "string"),
)
SEEDS = st.integers(min_value=0, max_value=2**31)
FILLS = st.one_of(
    st.builds(Uniform, SEEDS, st.floats(-1e3, 0), st.floats(0, 1e3)),
    st.builds(Uniform, SEEDS, st.integers(-(2**40), 0), st.integers(0, 2**40)),
    st.builds(Special, SEEDS),
    st.builds(Constant, st.integers(0, 1)),
)
SHAPES = st.lists(st.integers(0, 9), max_size=3).map(tuple)
TENSORS = st.builds(TensorValue, st.sampled_from(DTYPES), SHAPES, FILLS)


def evaluate(value: Value) -> Any:
    source = ScriptSource(writer_of("planted"))
    text = source.expression(value)
    names: dict[str, Any] = {"np": np}
    exec(UNIT_FUNCTION, names)
    return eval(text, names)  # noqa: S307 - the text under test is our own


def test_script_of_a_layer_on_a_device_builds_it_on_the_cpu() -> None:
    layer = ApiCall(
        api="torch.nn.Linear",
        kind=CallKind.LAYER,
        arguments=(LiteralValue(3), LiteralValue(4)),
        inputs=(TensorValue("float32", (2, 3), Constant(1)),),
    )

    on_device = ScriptSource(writer_of("torch"), device="cuda:0").call(layer)

    assert on_device[0].splitlines() == [
        'with torch.device("cpu"):  # its weights are the same on every device then',
        "    layer = torch.nn.Linear(3, 4)",
        "layer = layer.to('cuda:0')",
    ]
    assert on_device[1:] == ScriptSource(writer_of("torch")).call(layer)[1:]


@given(TENSORS)
def test_array_expression_evaluates_to_the_same_elements(value: TensorValue) -> None:
    # If the range is wider than the type, both sides overflow to infinity, and numpy warns.
    with np.errstate(over="ignore", invalid="ignore"):
        expected = elements(value_to_json(value)[3], value.dtype, value.shape)
        array = np.asarray(evaluate(value)).astype(expected.dtype)

    assert array.shape == expected.shape
    assert array.tobytes() == expected.tobytes() or array.tolist() == expected.tolist()


def test_explicit_elements_are_written_exactly() -> None:
    data = (0.1, -0.0, float("nan"), float("inf"), 1e-45, 16777217.0)
    value = ArrayValue("float32", (6,), Explicit(data))

    array = evaluate(value)

    assert array.tobytes() == np.array(data, dtype="float32").tobytes()


SCALARS = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary()),
    st.complex_numbers(),
)


def test_attribute_of_an_object_is_written_without_an_import() -> None:
    value = CallValue("builtins.getattr", (CallValue("builtins.complex"), LiteralValue("imag")))
    source = ScriptSource(writer_of("planted"))

    text = source.expression(value)

    # The script names the object, because a part such as a variable's handle may not outlive it.
    assert (source.assignments, text) == (["held0 = complex()"], "held0.imag")


@given(SCALARS)
def test_scalar_expression_evaluates_to_the_scalar(scalar: Any) -> None:
    written = evaluate(LiteralValue(scalar))

    assert repr(written) == repr(scalar)


HOSTILE = "x\nimport os; os.abort()\r\x00\u2028\u202e'''\"\"\"\\"


@given(st.text(), st.text())
def test_fuzzed_text_cannot_leave_comments_or_literals(message: str, argument: str) -> None:
    case = call(LiteralValue(argument + HOSTILE), keywords=((argument + HOSTILE, LiteralValue(1)),))
    finding_of_difference = finding(
        Crashed("SIGSEGV", (), message), case=case, message=HOSTILE + message
    )

    text = script(
        finding_of_difference, environment_hint=EnvironmentHint(install=(message + HOSTILE,))
    )

    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
    assert [alias.name for node in imports for alias in node.names] == ["torch"]
    kinds = {token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)}
    assert tokenize.ERRORTOKEN not in kinds


@pytest.mark.parametrize("name", ["", "1.2", "lambda.x", "x;y.z", "torch;import os"])
def test_script_with_an_invalid_module_name_raises(name: str) -> None:
    with pytest.raises(ValueError, match="not the"):
        script(finding(Crashed("SIGSEGV"), case=call(MemberValue(name))), environment_hint=HINT)


@pytest.mark.parametrize("name", ["torch.x; import os", "torch.\n", "torch.lambda"])
def test_attribute_with_an_invalid_name_is_quoted(name: str) -> None:
    finding_of_difference = finding(Crashed("SIGSEGV"), case=call(MemberValue(name)))

    text = script(finding_of_difference, environment_hint=HINT)

    assert f"getattr(torch, {name.partition('.')[2]!a})" in text


@pytest.mark.parametrize(
    "library", [name for name, one in LIBRARIES.items().items() if one.has_api]
)
@pytest.mark.parametrize("kind", list(CallKind))
def test_script_compiles_for_each_library_and_kind_of_call(library: str, kind: CallKind) -> None:
    tensor = TensorValue("bfloat16", (3, 40), Uniform(1, -1.0, 1.0))
    case = call(
        TensorValue("float32", (2, 0), Constant(1.0)),
        tensor,
        TupleValue((LiteralValue(1),)),
        api=f"{library}.sub.module.thing",
        kind=kind,
        keywords=(
            ("dtype", DtypeValue("int32")),
            ("from", CallValue(f"{library}.make", (LiteralValue(1),), (("a", LiteralValue(2)),))),
            ("extra", DictValue((("k", tensor),))),
        ),
    )
    finding_of_difference = finding(Crashed("SIGFPE"), case=case)

    text = script(finding_of_difference, environment_hint=HINT)

    compile(text, "reproducer", "exec")
    assert "ciguard" not in text


def test_script_states_installation_and_expectation() -> None:
    finding_of_difference = finding(
        Crashed("SIGABRT", (), "F0000 00:00:1.5 1 a.cc:1] Check failed: x (1 vs. 2)\n")
    )

    text = script(
        finding_of_difference, environment_hint=EnvironmentHint(install=("torch==2.13.0",))
    )

    assert "# Install: pip install torch==2.13.0" in text
    assert "# torch==2.13.0: SIGABRT: a.cc:1] Check failed: x (1 vs. 2)" in text
    assert "torch.manual_seed(0)" in text
    assert "result = torch.fold(torch.full((2,), 1.0, dtype=torch.float32), -1)" in text


def test_script_of_a_layer_states_its_mutant() -> None:
    text = script(layer_difference(), environment_hint=EnvironmentHint(install=("keras",)))

    comment = text.partition("import")[0].replace("\n# ", " ")
    assert "Found in: a mutant of lenet5-mnist (LA conv2d_1: keras.layers.PReLU; GF" in comment
    assert "isolated from 17 layers; R_a 3.2e4 at layer conv_3" in comment
    assert "Compared: the outputs (predict)" in comment


@pytest.mark.parametrize(
    ("outcome", "phrase"),
    [(Hung(5.0), "does not return"), (Exhausted(Resource.MEMORY, ""), "uses up all memory")],
)
def test_script_of_a_layer_names_its_execution_a_run(outcome: Outcome, phrase: str) -> None:
    text = script(layer_death(outcome), environment_hint=EnvironmentHint(install=("keras",)))

    assert text.startswith(f"# keras.layers.Conv2D: the run {phrase}.\n")


@given(st.text())
def test_fuzzed_names_of_an_origin_cannot_leave_the_header(name: str) -> None:
    name = HOSTILE + name
    origin = GraphOrigin(model=name, mutations=(name,), deviations=((name, 1.0),), suspect=name)

    text = script(layer_difference(layer_case(origin)), environment_hint=HINT)

    assert all(line.startswith("#") for line in text.partition("\n\n")[0].split("\n"))
    assert "abort" not in ast.unparse(ast.parse(text))


def test_script_sets_variables_before_the_import() -> None:
    hint = EnvironmentHint(install=("keras",), variables=(("KERAS_BACKEND", "jax"),))

    text = script(finding(Crashed("SIGSEGV")), environment_hint=hint)

    assert text.index("KERAS_BACKEND") < text.index("import torch")


def _run(text: str, result: object) -> str:
    """Run a script whose library is a stand-in that returns `result`; return its last word."""
    lines = [line for line in text.splitlines() if line != "import planted"]
    names: dict[str, Any] = {"planted": type("planted", (), {"f": staticmethod(lambda: result)})}
    try:
        exec("\n".join(lines), names)
    except SystemExit as end:
        return str(end.code)
    return "no difference"


def _tensor(values: list[float]) -> bytes:
    array = np.array(values, dtype="float32")
    text = __import__("base64").b64encode(array.tobytes()).decode()
    return json.dumps(["T", "float32", list(array.shape), text]).encode()


@pytest.mark.parametrize(
    ("result", "phrase"),
    [
        (np.array([1.0, np.nan, 3.0], "float32"), "no difference"),
        (np.array([1.0000001, np.nan, 3.0], "float32"), "no difference"),
        (np.array([1.5, np.nan, 3.0], "float32"), "DIFFERENT: 1.5 instead of 1.0 at element 0"),
        (np.array([1.0, 2.0, 3.0], "float32"), "DIFFERENT: 2.0 instead of nan at element 1"),
    ],
)
def test_differential_script_compares_with_the_references_result(
    result: object, phrase: str
) -> None:
    case = call(api="planted.f")
    case = type(case)(api="planted.f", kind=case.kind)
    finding_of_difference = pair(
        Passed(_tensor([1.0, np.nan, 3.0]), 0.1), Passed(b"null", 0.1), case=case
    )

    assert _run(script(finding_of_difference, environment_hint=HINT), result).startswith(phrase)


@pytest.mark.parametrize(
    ("kind", "result", "shows", "is_compared"),
    [
        ("dtype", np.array([9.0, 9.0, 9.0], "float64"), True, False),
        ("dtype", np.array([9.0, 9.0, 9.0], "float32"), False, False),
        ("shape", np.array([9.0], "float32"), True, False),
        ("structure", (1, 2), True, False),
        ("refused", np.array([9.0], "float64"), False, False),
        ("values", np.array([9.0, 9.0, 9.0], "float32"), True, True),
    ],
)
def test_a_script_compares_only_what_its_finding_is_about(
    kind: str, result: object, *, shows: bool, is_compared: bool
) -> None:
    case = replace(call(api="planted.f"), arguments=())
    outcomes = (Passed(_tensor([1.0, 2.0, 3.0]), 0.1), Passed(b"null", 0.1))
    text = script(replace(pair(*outcomes, case=case), kind=kind), environment_hint=HINT)

    assert ("expected = " in text) == is_compared
    assert _run(text, result).startswith("DIFFERENT") == shows
    assert len(text.splitlines()) < 40


def test_nested_results_are_compared_part_by_part() -> None:
    case = replace(call(api="planted.f"), arguments=())
    tree = ["L", "tuple", [["i", "1"], json.loads(_tensor([2.0]))], 2]
    outcomes = (Passed(json.dumps(tree).encode(), 0.1), Passed(b"null", 0.1))
    text = script(pair(*outcomes, case=case), environment_hint=HINT)

    assert _run(text, (1, np.array([2.0], "float32"))) == "no difference"
    assert _run(text, (1, np.array([3.0], "float32"))).startswith("DIFFERENT: 3.0 instead of 2.0")


@pytest.mark.parametrize("kind", ["dtype", "structure"])
def test_a_nested_difference_in_form_compares_no_elements(kind: str) -> None:
    case = replace(call(api="planted.f"), arguments=())
    tree = ["L", "tuple", [["i", "1"], json.loads(_tensor([2.0]))], 2]
    outcomes = (Passed(json.dumps(tree).encode(), 0.1), Passed(b"null", 0.1))
    text = script(replace(pair(*outcomes, case=case), kind=kind), environment_hint=HINT)

    assert _run(text, (7, np.array([3.0], "float32"))) == "no difference"
    assert _run(text, (1, np.array([2], "int32"))).startswith("DIFFERENT: int32 (1,) instead of")
    assert _run(text, (1,)).startswith("DIFFERENT")


def test_a_nested_result_that_is_refused_needs_no_comparison() -> None:
    case = replace(call(api="planted.f"), arguments=())
    tree = ["L", "tuple", [["i", "1"], json.loads(_tensor([2.0]))], 2]
    outcomes = (Passed(json.dumps(tree).encode(), 0.1), Passed(b"null", 0.1))
    text = script(replace(pair(*outcomes, case=case), kind="refused"), environment_hint=HINT)

    assert "def difference" not in text
    assert _run(text, (5,)) == "no difference"


def test_equal_elements_are_written_once() -> None:
    case = replace(call(api="planted.f"), arguments=())
    finding_of_difference = pair(
        Passed(_tensor([np.nan] * 900), 0.1), Passed(b"null", 0.1), case=case
    )
    text = script(finding_of_difference, environment_hint=HINT)

    assert 'expected = [float("nan")] * 900' in text
    assert _run(text, np.full(900, np.nan, "float32")) == "no difference"
    assert _run(text, np.zeros(900, "float32")).startswith("DIFFERENT: 0.0 instead of nan")


def test_differential_script_reports_a_missing_rejection() -> None:
    case = call(api="planted.f")
    case = type(case)(api="planted.f", kind=case.kind)
    finding_of_difference = pair(Rejected("ValueError", "no\n'x'"), Passed(b"null", 0.1), case=case)

    output = _run(script(finding_of_difference, environment_hint=HINT), 3)

    assert output == "DIFFERENT: returns 3; torch==2.12.0 raised ValueError: no\n'x'"


TENSOR = TensorValue("float32", (2,), Constant(1.0))
FUNCTION = call(
    TENSOR,
    LiteralValue(1),
    keywords=(
        ("out", CallValue("torch.zeros", (LiteralValue(2),))),
        ("more", TupleValue((TENSOR,))),
    ),
)
COMPILED = """x0 = torch.full((2,), 1.0, dtype=torch.float32)
held0 = torch.zeros(2)
x1 = torch.full((2,), 1.0, dtype=torch.float32)


def call(x0, x1):
    return torch.fold(x0, 1, out=held0, more=(x1,))


result = torch.compile(call, fullgraph=True)(x0, x1)
"""
METHOD = call(TENSOR, LiteralValue(1), api="torch.Tensor.sort", kind=CallKind.METHOD)
TRACED = """def call(x0):
    return x0.sort(1)


copies = tuple(tensor.__deepcopy__({}) for tensor in (x0,))

result = torch.jit.trace(call, copies, check_trace=False)(x0)
"""
LAYER = replace(call(LiteralValue(2), api="torch.nn.Linear", kind=CallKind.LAYER), inputs=(TENSOR,))
COMPILED_LAYER = """layer = torch.nn.Linear(2)

result = torch.compile(layer, backend="aot_eager", fullgraph=True)(x0)
"""
KERAS_LAYER = replace(LAYER, api="tensorflow.keras.layers.Dense")
BUILT_LAYER = """layer = tf.keras.layers.Dense(2)
if not getattr(layer, "built", True):
    layer.build(x0.shape)

result = tf.function(layer, jit_compile=True)(x0)
"""
PAIRED_LAYER = replace(LAYER, inputs=(TENSOR, TupleValue((TENSOR,))))
EXPORTED_LAYER = """def call(x0, x1):
    return layer(x0, (x1,))



class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.call = call
"""


@pytest.mark.parametrize(
    ("case", "mode", "expected"),
    [
        (FUNCTION, "compile", COMPILED),
        (METHOD, "trace", TRACED),
        (LAYER, "aot_eager", COMPILED_LAYER),
        (PAIRED_LAYER, "export", EXPORTED_LAYER),
        (KERAS_LAYER, "xla", BUILT_LAYER),
    ],
)
def test_call_in_a_compiled_mode_is_written_as_a_function_of_its_tensors(
    case: ApiCall, mode: str, expected: str
) -> None:
    hint = EnvironmentHint(install=("torch==2.13.0",), mode=mode)

    text = script(finding(Crashed("SIGSEGV"), case=case), environment_hint=hint)

    compile(text, "script", "exec")
    assert expected in text


def test_call_in_an_unknown_mode_is_written_plainly() -> None:
    finding_of_difference = finding(
        Crashed("SIGSEGV"), case=call(LiteralValue(1), api="planted.fragile")
    )

    text = script(
        finding_of_difference, environment_hint=EnvironmentHint(install=("planted",), mode="graph")
    )

    assert "result = planted.fragile(1)" in text


def _effects_of(kind: str, function: Any, effects: bytes) -> str:
    """Run the script of a finding whose reference had these effects; return its last word."""
    case = call(ArrayValue("float64", (2,), Constant(1.0)), api="planted.f")
    encoded = b'["E",%s,null]' % effects if effects else b"null"
    finding_of_difference = pair(Passed(encoded, 0.1), Passed(b"null", 0.1), kind=kind, case=case)
    text = script(finding_of_difference, environment_hint=HINT)
    lines = [line for line in text.splitlines() if line != "import planted"]
    names: dict[str, Any] = {"planted": type("planted", (), {"f": staticmethod(function)})}
    try:
        exec("\n".join(lines), names)
    except SystemExit as end:
        return str(end.code)
    return "no difference"


@pytest.mark.parametrize(
    ("kind", "function", "effects", "phrase"),
    [
        ("mutation", lambda x: x.sum(), b"", "no difference"),
        ("mutation", lambda x: x.fill(3), b"", "DIFFERENT: torch==2.12.0: []"),
        ("mutation", lambda x: x.fill(3), b"[0],[]", "no difference"),
        ("mutation", lambda x: x.sum(), b"[0],[]", "DIFFERENT: torch==2.12.0: [0]"),
        ("aliasing", lambda x: x, b"[],[0]", "no difference"),
        ("aliasing", lambda x: [x.copy()], b"[],[0]", "DIFFERENT: torch==2.12.0: [0]"),
        ("aliasing", lambda x: (1, x), b"", "DIFFERENT: torch==2.12.0: []"),
    ],
)
def test_script_shows_changes_of_arguments(
    kind: str, function: Any, effects: bytes, phrase: str
) -> None:
    assert _effects_of(kind, function, effects) == phrase
