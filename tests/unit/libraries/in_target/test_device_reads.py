"""Errors of a device that surface while a result is read: raised, and not taken for a note."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ciguard.libraries.jax.in_target.adapter import JaxAdapter
from ciguard.libraries.jittor.in_target.adapter import JittorAdapter
from ciguard.libraries.tensorflow.in_target.adapter import TensorflowAdapter
from ciguard.libraries.torch.in_target.adapter import TorchAdapter

if TYPE_CHECKING:
    from ciguard.libraries.in_target.contract import Adapter

ILLEGAL = "CUDA error: an illegal memory access was encountered"


class Result:
    """A result of each library at once, which can be seen but not be read."""

    dtype = np.dtype("float32")
    shape = (2,)

    def __init__(self, message: str) -> None:
        self._message = message

    def numpy(self, **_: object) -> None:
        raise RuntimeError(self._message)

    read_value = numpy


def _awaited(result: Result) -> None:
    result.numpy()


def adapter_of(library: str, *, on_cpu: bool) -> Adapter:
    """Return an adapter without its library, which it needs for other results only."""
    adapter: Any
    if library == "torch":
        adapter = TorchAdapter()
        adapter._tensor_type, adapter._names, adapter._wider = Result, {Result.dtype: "float32"}, {}
        adapter._generator, adapter._draws_noted = None, False
        adapter._torch = SimpleNamespace(strided=None)
    elif library == "jax":
        adapter = JaxAdapter()
        adapter._names = {Result.dtype: "float32"}
        adapter._jax = SimpleNamespace(
            Array=Result, block_until_ready=_awaited, errors=SimpleNamespace()
        )
    elif library == "jittor":
        adapter = JittorAdapter()
        adapter._variable, adapter._arrays = Result, {"float32": Result.dtype}
    else:
        adapter = TensorflowAdapter()
        adapter._ops = SimpleNamespace(EagerTensor=int)
        adapter._errors = ((), ())
        errors = SimpleNamespace(OpError=ValueError)
        adapter._tensorflow = SimpleNamespace(Variable=Result, errors=errors)
    adapter._on_cpu = on_cpu
    return adapter  # type: ignore[no-any-return]


@pytest.mark.parametrize("library", ["torch", "tensorflow", "jittor", "jax"])
def test_error_of_the_device_is_raised(library: str) -> None:
    with pytest.raises(RuntimeError, match="illegal memory access"):
        adapter_of(library, on_cpu=False).read(Result(ILLEGAL))


@pytest.mark.parametrize("library", ["torch", "tensorflow", "jittor", "jax"])
@pytest.mark.parametrize("on_cpu", [True, False])
def test_result_that_cannot_be_read_is_noted(library: str, *, on_cpu: bool) -> None:
    read = adapter_of(library, on_cpu=on_cpu).read(Result("it has no elements"))

    assert read is not None
    assert "RuntimeError" in read["note"]
