"""Messages of AutoGraph and Keras: the stack in them, and the message that was raised."""

from __future__ import annotations

import pytest

from ciguard.functions.in_target.calling.judging import frames_of
from ciguard.functions.in_target.calling.wrapped_errors import original_frames, original_message

OF_AUTOGRAPH = """in user code:

    File "/home/me/model.py", line 12, in step  *
        return inner(x)
    File "/home/me/model.py", line 7, in inner  *
        raise TypeError(f"no {x}")
    File "/usr/lib/tensorflow/python/ops/math_ops.py", line 900, in binary  **
        return func(x, y)

    TypeError: no Tensor("x:0", shape=(), dtype=float32)
    second line
"""
NESTED = """Exception encountered when calling layer 'net' (type Net).

in user code:

    File "/home/me/model.py", line 3, in call  *
        return x + self.bias

    ValueError: Dimensions must be equal

Call arguments received by layer 'net' (type Net):
  • x=tf.Tensor(shape=(2, 3), dtype=float32)"""
OF_KERAS = """Exception encountered when calling Net.call().

\x1b[1mdivided by nothing\x1b[0m

Arguments received by Net.call():
  • x=torch.Tensor(shape=torch.Size([2]), dtype=float32)"""


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TypeError(OF_AUTOGRAPH), 'no Tensor("x:0", shape=(), dtype=float32)\nsecond line'),
        (ValueError(NESTED), "Dimensions must be equal"),
        (ValueError(OF_KERAS), "divided by nothing"),
        (ValueError("in user code:"), "in user code:"),
        (ValueError("plain: Arguments received by nobody"), "plain: Arguments received by nobody"),
        (ValueError(), ""),
    ],
    ids=["autograph", "nested", "keras", "bare", "plain", "empty"],
)
def test_the_original_message_has_no_stack_and_no_inputs(error: Exception, expected: str) -> None:
    assert original_message(error) == expected


def test_the_frames_in_a_message_are_the_innermost_of_an_exception() -> None:
    assert original_frames(OF_AUTOGRAPH)[:2] == [
        ("/home/me/model.py", 12, "step"), ("/home/me/model.py", 7, "inner"),
    ]  # fmt: skip
    assert original_frames('  File "/home/me/model.py", line 3, in f\n') == []
    assert frames_of(TypeError(OF_AUTOGRAPH))[-1][2] == "binary"


def test_frames_of_generated_code_are_left_out() -> None:
    code = compile("def step(): raise KeyError", "/tmp/__autograph_generated_file1x.py", "exec")  # noqa: S108
    scope: dict[str, object] = {}
    exec(code, scope)

    with pytest.raises(KeyError) as caught:
        scope["step"]()  # type: ignore[operator]

    assert [name for _, _, name in frames_of(caught.value)] == [
        "test_frames_of_generated_code_are_left_out"
    ]
