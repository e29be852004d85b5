"""The calls with which `gpu.py` tests the way of a case over a GPU, by library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpu_layers import START

_T = ["t", "float32", [2, 3], ["u", 1, 0.0, 1.0]]
_IMAGE = ["t", "float32", [1, 3, 8, 8], ["u", 1, -1.0, 1.0]]
_IMAGE_CHANNELS_LAST = ["t", "float32", [1, 8, 8, 3], ["u", 1, -1.0, 1.0]]
_FAR = ["t", "int64", [2], ["k", 10**6]]
_FAR_INT32 = ["t", "int32", [2], ["k", 10**6]]
_ILLEGAL = """
import torch
source = 'extern "C" __global__ void far(float* x) { x[1l << 36] = 1.0f; }'
kernel = torch.cuda._compile_kernel(source, "far")
kernel((1, 1, 1), (1, 1, 1), (torch.zeros(1, device="cuda"),))
"""
_STRAY = """
import torch
source = 'extern "C" __global__ void stray(char* x) { *(int*)(x + 1) = 1; }'
kernel = torch.cuda._compile_kernel(source, "stray")
kernel((1, 1, 1), (1, 1, 1), (torch.zeros(64, dtype=torch.uint8, device="cuda"),))
"""


@dataclass(frozen=True)
class Calls:
    """What is run of one library: cases in JSON form."""

    plain: list[Any]
    faulty: list[Any]
    """An index far out of range, which a kernel notices."""
    like_cpu: list[list[Any]]
    """Calls whose values must be those of the CPU."""
    random: list[Any] | None
    """Draws numbers that no other device draws."""
    greedy: list[Any]
    """Asks for more memory than there is."""
    endless: list[Any] | None
    """Keeps the device busy for minutes."""
    illegal: list[Any] | None
    """Touches memory of the device that is not its own."""
    raw: str
    """The loop that the throughput is held against: a Python program that prints calls per s."""
    one: str
    """A function of one tensor, of any type."""
    product: list[Any]
    """A product that TF32 rounds."""
    modes: tuple[str, ...]
    """Modes that compile kernels for the device."""
    stray: list[Any] | None = None
    """Touches memory of the device at an address that is not aligned."""
    start: str = START
    """The statement that starts the device, in any process."""
    is_refused: bool | None = True
    """Whether the library refuses the faulty call; others document what it returns. None if that
    depends on the backend."""
    first_case_s: float = 0.5
    """What the first case may take, with the kernel that it compiles, in seconds."""


_RAW_TORCH = """
import time, torch
torch.set_default_device("cuda:0")
import numpy as np
data = np.random.rand(2, 3).astype("float32")
def one():
    a = torch.from_numpy(data).to("cuda:0"); b = torch.from_numpy(data).to("cuda:0")
    torch.add(a, b).cpu().numpy()
for _ in range(200): one()
began, n = time.perf_counter(), 0
while time.perf_counter() - began < 3.0:
    one(); n += 1
print(n / (time.perf_counter() - began))
"""
_RAW_JAX = """
import time, jax, jax.numpy as jnp, numpy as np
data = np.random.rand(2, 3).astype("float32")
def one(): np.asarray(jnp.add(jnp.asarray(data), jnp.asarray(data)))
for _ in range(200): one()
began, n = time.perf_counter(), 0
while time.perf_counter() - began < 3.0:
    one(); n += 1
print(n / (time.perf_counter() - began))
"""


_RAW_TENSORFLOW = """
import time, tensorflow, numpy as np
data = np.random.rand(2, 3).astype("float32")
def one(): tensorflow.math.add(tensorflow.constant(data), tensorflow.constant(data)).numpy()
for _ in range(200): one()
began, n = time.perf_counter(), 0
while time.perf_counter() - began < 3.0:
    one(); n += 1
print(n / (time.perf_counter() - began))
"""


_RAW_KERAS = """
import time, keras, numpy as np
data = np.random.rand(2, 3).astype("float32")
def one(): keras.ops.convert_to_numpy(keras.ops.add(data, data))
for _ in range(200): one()
began, n = time.perf_counter(), 0
while time.perf_counter() - began < 3.0:
    one(); n += 1
print(n / (time.perf_counter() - began))
"""
_RAW_JITTOR = """
import time, jittor, numpy as np
jittor.flags.use_cuda = 1
jittor.flags.lazy_execution = 0
data = np.random.rand(2, 3).astype("float32")
def one(): jittor.add(jittor.array(data), jittor.array(data)).numpy()
for _ in range(200): one()
began, n = time.perf_counter(), 0
while time.perf_counter() - began < 3.0:
    one(); n += 1
print(n / (time.perf_counter() - began))
"""


def _matrix(*shape: int, seed: int = 1) -> list[Any]:
    return ["t", "float32", list(shape), ["u", seed, -1.0, 1.0]]


CALLS = {
    "torch": Calls(
        plain=["torch.add", "function", [_T, _T], [], [], 1],
        faulty=["torch.nn.functional.embedding", "function", [_FAR, _T], [], [], 1],
        like_cpu=[
            [
                "torch.nn.functional.conv2d",
                "function",
                [_IMAGE, _matrix(4, 3, 3, 3)],
                [],
                [],
                1,
            ],
            ["torch.matmul", "function", [_matrix(64, 256), _matrix(256, 64)], [], [], 1],
            ["torch.nn.Linear", "layer", [16, 8], [], [_matrix(4, 16)], 1],
            ["torch.nn.Conv2d", "layer", [3, 4, 3], [], [_IMAGE], 1],
            ["torch.nn.LSTM", "layer", [8, 8], [], [_matrix(2, 3, 8)], 1],
            [
                "torch.nn.Embedding",
                "layer",
                [8, 4],
                [],
                [["t", "int64", [3], ["u", 1, 0, 7]]],
                1,
            ],
            ["torch.linalg.inv", "function", [_matrix(3, 3, seed=5)], [], [], 1],
        ],
        random=["torch.rand", "function", [["l", [3]]], [], [], 7],
        greedy=["torch.zeros", "function", [["l", [10**12]]], [], [], 1],
        endless=["torch.cuda._sleep", "function", [10**12], [], [], 1],
        illegal=["torch", "program", {"source": _ILLEGAL, "seed": 1}],
        raw=_RAW_TORCH,
        one="torch.neg",
        product=["torch.matmul", "function", [_matrix(64, 256), _matrix(256, 64)], [], [], 1],
        modes=("compile",),
        stray=["torch", "program", {"source": _STRAY, "seed": 1}],
    ),
    "jax": Calls(
        plain=["jax.numpy.add", "function", [_T, _T], [], [], 1],
        faulty=["jax.numpy.take", "function", [_T, _FAR_INT32], [], [], 1],
        like_cpu=[
            ["jax.numpy.matmul", "function", [_matrix(64, 256), _matrix(256, 64)], [], [], 1],
            [
                "jax.lax.conv",
                "function",
                [_IMAGE, _matrix(4, 3, 3, 3), ["l", [1, 1]], "SAME"],
                [],
                [],
                1,
            ],
            ["jax.numpy.linalg.inv", "function", [_matrix(3, 3, seed=5)], [], [], 1],
        ],
        random=None,
        greedy=["jax.numpy.zeros", "function", [["l", [10**11]]], [], [], 1],
        endless=None,
        illegal=None,
        raw=_RAW_JAX,
        one="jax.numpy.negative",
        product=["jax.numpy.matmul", "function", [_matrix(64, 256), _matrix(256, 64)], [], [], 1],
        modes=("jit",),
        is_refused=False,
    ),
    "tensorflow": Calls(
        plain=["tensorflow.math.add", "function", [_T, _T], [], [], 1],
        faulty=["tensorflow.gather", "function", [_T, _FAR_INT32], [], [], 1],
        like_cpu=[
            [
                "tensorflow.nn.conv2d",
                "function",
                [_IMAGE_CHANNELS_LAST, _matrix(3, 3, 3, 4), 1, "SAME"],
                [],
                [],
                1,
            ],
            [
                "tensorflow.linalg.matmul",
                "function",
                [_matrix(64, 256), _matrix(256, 64)],
                [],
                [],
                1,
            ],
            ["tensorflow.keras.layers.Dense", "layer", [8], [], [_matrix(4, 16)], 1],
            ["tensorflow.keras.layers.LSTM", "layer", [8], [], [_matrix(2, 3, 8)], 1],
            [
                "tensorflow.random.stateless_uniform",
                "function",
                [["l", [3]], ["l", [1, 2]]],
                [],
                [],
                1,
            ],
            ["tensorflow.linalg.inv", "function", [_matrix(3, 3, seed=5)], [], [], 1],
        ],
        random=None,
        greedy=["tensorflow.zeros", "function", [["l", [10**12]]], [], [], 1],
        endless=None,
        illegal=None,
        raw=_RAW_TENSORFLOW,
        one="tensorflow.math.negative",
        product=[
            "tensorflow.linalg.matmul",
            "function",
            [_matrix(64, 256), _matrix(256, 64)],
            [],
            [],
            1,
        ],
        modes=("function", "xla"),
        is_refused=False,
    ),
    "keras": Calls(
        plain=["keras.ops.add", "function", [_T, _T], [], [], 1],
        faulty=["keras.ops.take", "function", [_T, _FAR_INT32], [], [], 1],
        like_cpu=[
            ["keras.ops.matmul", "function", [_matrix(64, 256), _matrix(256, 64)], [], [], 1],
            [
                "keras.ops.conv",
                "function",
                [_IMAGE_CHANNELS_LAST, _matrix(3, 3, 3, 4)],
                [],
                [],
                1,
            ],
            ["keras.layers.Dense", "layer", [8], [], [_matrix(4, 16)], 1],
            ["keras.layers.LSTM", "layer", [8], [], [_matrix(2, 3, 8)], 1],
            ["keras.random.uniform", "function", [["l", [3]]], [["seed", 7]], [], 1],
        ],
        random=None,
        greedy=["keras.ops.zeros", "function", [["l", [10**11]]], [], [], 1],
        endless=None,
        illegal=None,
        raw=_RAW_KERAS,
        one="keras.ops.negative",
        product=["keras.ops.matmul", "function", [_matrix(64, 256), _matrix(256, 64)], [], [], 1],
        modes=(),
        is_refused=None,
    ),
    "jittor": Calls(
        plain=["jittor.add", "function", [_T, _T], [], [], 1],
        faulty=["jittor.nn.embedding", "function", [_FAR_INT32, _T], [], [], 1],
        like_cpu=[
            ["jittor.matmul", "function", [_matrix(64, 256), _matrix(256, 64)], [], [], 1],
            ["jittor.nn.conv2d", "function", [_IMAGE, _matrix(4, 3, 3, 3)], [], [], 1],
        ],
        random=None,
        greedy=["jittor.zeros", "function", [["l", [10**12]]], [], [], 1],
        endless=None,
        illegal=None,
        raw=_RAW_JITTOR,
        one="jittor.abs",
        product=["jittor.matmul", "function", [_matrix(64, 256), _matrix(256, 64)], [], [], 1],
        modes=("lazy",),
        is_refused=None,
        first_case_s=60.0,
    ),
}
