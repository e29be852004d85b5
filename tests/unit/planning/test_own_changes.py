from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.planning.checkout import ChangedFile
from ciguard.planning.own_changes import touched_globs

WARP, CONV = "torch.ops.mine.warp", "tensorflow.raw_ops.Conv2D"


def _globs(path: str, text: str, *lines: int, module: str = "") -> list[str]:
    change = ChangedFile(path=path, lines=tuple((line, line) for line in lines))
    return touched_globs(change, text, module)


@pytest.mark.parametrize(
    ("path", "text", "glob"),
    [
        ("native_functions.yaml", "- func: addmm(Tensor self) -> Tensor\n", "torch*.addmm"),
        ("native_functions.yaml", "- func: linalg_norm.out(Tensor x)\n", "torch*.norm"),
        ("a.cpp", 'TORCH_LIBRARY(mine, m) {\n  m.def("warp(Tensor x)");\n}\n', WARP),
        ("a.cpp", 'TORCH_LIBRARY_IMPL(mine, CPU, m) {\n  m.impl("warp", f);\n}\n', WARP),
        ("a.py", 'torch.library.define("mine::warp", "(Tensor x) -> Tensor")\n', WARP),
        ("a.py", '@torch.library.custom_op("mine::warp", mutates_args=())\n', WARP),
        ("a.cc", 'REGISTER_OP("Conv2D")\n    .Input("x: T")\n', CONV),
        ("a.cc", 'REGISTER_KERNEL_BUILDER(Name("Conv2D").Device(D), F);\n', CONV),
        ("a.py", '@tf_export("math.add", v1=[])\n', "tensorflow.math.add"),
        ("a.py", '@keras_export(["keras.ops.add", "x"])\n', "keras.ops.add"),
    ],
)
def test_a_changed_registration_touches_its_apis(path: str, text: str, glob: str) -> None:
    last = text.count("\n")

    assert glob in _globs(path, text, *range(1, last + 1))
    assert _globs(path, text, last + 50) == []


def test_a_registration_extends_to_the_next_one() -> None:
    text = 'REGISTER_OP("One")\n    .Input("x")\n    .Output("y");\nREGISTER_OP("Two")\n;\n'

    assert _globs("a.cc", text, 3) == ["tensorflow.raw_ops.One"]
    assert _globs("a.cc", text, 4) == ["tensorflow.raw_ops.Two"]


def test_a_changed_public_function_or_class_touches_apis_of_its_name() -> None:
    text = (
        "def relu(x):\n    return x\n\n\ndef _private():\n    pass\n\n\nclass Linear:\n    pass\n"
    )

    assert _globs("torch/nn/x.py", text, 2, 6, module="torch") == ["torch*.relu"]
    assert _globs("torch/nn/x.py", text, 10, module="torch") == ["torch*.Linear"]
    assert _globs("torch/nn/x.py", text, 2) == []


@given(
    st.text(alphabet='REGISTER_OP("abc)\n- func: mdef,::TORCH_LIBRARY', max_size=200),
    st.integers(1, 9),
)
def test_any_text_yields_printable_globs(text: str, line: int) -> None:
    for glob in _globs("a.cc", text, line, module="torch"):
        assert glob.isprintable()
