"""Whole programs in the workers of real libraries: how they end, what they leave behind."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Outcome, Passed, Rejected, Stage
from ciguard.domain.programs import ProgramCase, locate_message
from ciguard.execution import (
    Container,
    Dispatcher,
    Job,
    Output,
    Scalar,
    ServerProcess,
    TensorOutput,
    decode_outputs,
)
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.targets import Environment

LIBRARIES = (
    pytest.param("torch", marks=pytest.mark.library("torch")),
    pytest.param("tensorflow", marks=pytest.mark.library("tensorflow")),
    pytest.param(
        "tensorflow-cpu==2.21.0", marks=[pytest.mark.library("tensorflow"), pytest.mark.slow]
    ),
    pytest.param("keras", marks=pytest.mark.library("keras")),
    pytest.param("jittor", marks=[pytest.mark.library("jittor"), pytest.mark.slow]),
)
_TORCH = """
import torch
from torch import nn, optim

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.last = nn.Linear(8, 2)

    def forward(self, x):
        return self.last(torch.relu(self.hidden(x)))


x, y = torch.randn(20, 4), torch.randint(0, 2, (20,))
model = Net()
optimizer = optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    optimizer.zero_grad()
    error = nn.functional.cross_entropy(model(x), y)
    error.backward()
    optimizer.step()
loss = error.item()
predictions = model(x).detach()
"""
_KERAS = """
import numpy as np
{imports}

keras.utils.set_random_seed(0)
x = np.random.RandomState(0).rand(20, 4).astype("float32")
y = np.arange(20) % 2
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
crossentropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="sgd", loss=crossentropy)
history = model.fit(x, y, epochs=2, batch_size=10, verbose=0)
loss = float(history.history["loss"][-1])
predictions = model(x)
"""
_JITTOR = """
import jittor as jt
from jittor import nn

jt.set_global_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.last = nn.Linear(8, 2)

    def execute(self, x):
        return self.last(nn.relu(self.hidden(x)))


x, y = jt.randn(20, 4), jt.randint(0, 2, (20,))
model = Net()
optimizer = nn.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    error = nn.cross_entropy_loss(model(x), y)
    optimizer.step(error)
loss = error.item()
predictions = model(x)
"""
_REFUSED = {
    "torch": "import torch\nlayer = torch.nn.Linear(3, 2)\n\nlayer(torch.ones(2, 5))\n",
    "keras": "import keras\n\n\nkeras.layers.Dense(-1)\n",
    "tensorflow": "import tensorflow as tf\n\n\ntf.keras.layers.Dense(-1)\n",
    "jittor": "import jittor as jt\nx = jt.ones((2, 5))\n\nx.reshape((3, 7)).sync()\n",
}
_MODULE = {"torch": "torch.nn", "keras": "keras.layers", "tensorflow": "tensorflow.keras.layers"}


class Library:
    """One library's workers, and programs in its words."""

    def __init__(self, name: str, dispatcher: Dispatcher) -> None:
        self.name = name.partition("-")[0]
        self._dispatcher = dispatcher

    @property
    def training(self) -> str:
        """A program that builds and trains a small model."""
        imports = "import tensorflow as tf\n\nkeras = tf.keras"
        return {
            "torch": _TORCH,
            "keras": _KERAS.format(imports="import keras"),
            "tensorflow": _KERAS.format(imports=imports),
            "jittor": _JITTOR,
        }[self.name]

    @property
    def refused(self) -> str:
        """A program whose fourth line the library refuses."""
        return _REFUSED[self.name]

    @property
    def lacking(self) -> str:
        """A program that imports what the library does not have."""
        return f"\nfrom {_MODULE.get(self.name, 'jittor.nn')} import NotYetThere\n"

    def run(self, *cases: ProgramCase) -> list[Outcome]:
        """Run cases one after the other in one fresh worker."""
        encoded = tuple(map(encode, cases))
        self._dispatcher.add(Job(self.name, "test", encoded, fresh=True, limit_s=550.0))
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            for result in self._dispatcher.wait(1.0):
                return [*result.outcomes]
        pytest.fail("no result within ten minutes")


@pytest.fixture(scope="module", params=LIBRARIES)
def library(
    request: pytest.FixtureRequest, environment_of: Callable[[str], Environment]
) -> Iterator[Library]:
    name = str(request.param)
    with Dispatcher() as dispatcher:
        short = name.partition("-")[0]
        spec = worker_spec(short, environment_of(name), Config())
        for server in dispatcher.start([spec]).values():
            assert isinstance(server, ServerProcess), server
        yield Library(name, dispatcher)


def program(source: str, **settings: object) -> ProgramCase:
    return ProgramCase(api="torch.nn.Linear", source=source, **settings)  # type: ignore[arg-type]


def items(output: Output | None) -> dict[str, Output]:
    assert isinstance(output, Container), output
    return dict(zip(output.keys, output.items, strict=True))


def of(outcome: Outcome, part: str = "outputs") -> Output:
    assert isinstance(outcome, Passed), outcome
    return items(decode_outputs(outcome.encoded))[part]


def outputs(outcome: Outcome) -> dict[str, Output]:
    return items(of(outcome))


@pytest.mark.lengthy
def test_outputs_are_the_numbers_and_tensors_that_a_program_leaves(library: Library) -> None:
    (outcome,) = library.run(program(library.training))

    found = outputs(outcome)
    loss, predictions = found["loss"], found["predictions"]
    assert isinstance(loss, Scalar)
    assert loss.kind == "f"
    assert float(loss.text) > 0
    assert isinstance(predictions, TensorOutput)
    assert predictions.shape == (20, 2)
    assert predictions.dtype == "float32"
    assert list(found) == sorted(found)
    assert not {"model", "optimizer", "history"} & set(found)
    assert of(outcome, "block") == Scalar("s", "")


def test_a_program_that_runs_again_comes_to_the_same(library: Library) -> None:
    one, other = library.run(program(library.training), program(library.training))

    assert isinstance(one, Passed)
    assert isinstance(other, Passed)
    assert one.encoded == other.encoded


def test_a_refusal_names_the_innermost_line_of_the_program(library: Library) -> None:
    (outcome,) = library.run(program(library.refused))

    assert isinstance(outcome, Rejected), outcome
    assert outcome.stage is Stage.CALL
    place = locate_message(outcome.message)
    assert (place.line, place.in_block) == (4, False)
    assert place.message


def test_a_block_that_fails_ends_a_positive_case(library: Library) -> None:
    (outcome,) = library.run(program(library.training, block=library.refused))

    assert isinstance(outcome, Rejected), outcome
    place = locate_message(outcome.message)
    assert (place.line, place.in_block) == (4, True)


def test_a_block_that_is_refused_is_noted_in_a_negative_case(library: Library) -> None:
    case = program(library.training, block=library.refused, intent=Intent.VIOLATING)
    (outcome,) = library.run(case)

    refused = of(outcome, "block")
    assert isinstance(refused, Scalar)
    assert refused.text.endswith("Error")
    assert "predictions" in outputs(outcome)


def test_missing_name_in_this_version_is_inconclusive(library: Library) -> None:
    (outcome,) = library.run(program(library.lacking))

    assert isinstance(outcome, Rejected), outcome
    assert outcome.stage is Stage.BUILD
    assert locate_message(outcome.message).line == 2


def test_cycles_tell_memory_and_time_of_each(library: Library) -> None:
    (outcome,) = library.run(program(library.training, cycles=3))

    memory, cpu = of(outcome, "memory"), of(outcome, "cpu")
    assert isinstance(memory, TensorOutput)
    assert isinstance(cpu, TensorOutput)
    assert len(memory.elements) == 3
    # The allocator may return memory after a cycle, so the numbers need not grow.
    assert memory.elements.max() < 1.5 * memory.elements.min()
    assert memory.elements.min() > 0
    assert len(cpu.elements) == 3
    assert (cpu.elements > 0).all()
    assert list(outputs(outcome)) == ["epoch", "loss"] or list(outputs(outcome)) == ["loss"]


_NOTING_ITS_CODE = """
import sys

def one():
    return 1

seen = vars(sys).setdefault("_codes_of_this_test", [])
seen.append(one.__code__)
different = len({id(code) for code in seen})
times = len(seen)
"""


def test_repeatedly_run_program_is_compiled_once(library: Library) -> None:
    """Libraries keep what they have met of code, which would pass for a leak."""
    (outcome,) = library.run(program(library.training + _NOTING_ITS_CODE, cycles=3))

    found = outputs(outcome)
    assert isinstance(found["times"], Scalar)
    assert isinstance(found["different"], Scalar)
    assert (found["times"].text, found["different"].text) == ("3", "1")


_STATEFUL = {
    "torch": "import torch\ntorch.set_default_dtype(torch.half)\ntorch.set_grad_enabled(False)\n",
    "keras": "import keras\nkeras.config.set_floatx('float64')\n",
    "tensorflow": "import tensorflow as tf\ntf.keras.backend.set_floatx('float64')\n",
    "jittor": "import jittor as jt\njt.flags.no_grad = 1\n",
}
_OWN_STATE = """
import os, random, sys, warnings
import numpy as np

arguments = len(sys.argv)
searched = "/nowhere" in sys.path
chosen = "PLANTED" in os.environ
drawn = random.random()
drawn_by_numpy = float(np.random.rand())
strict = any(one[0] == "error" for one in warnings.filters)
folder = os.path.exists("inner")
main = sys.modules["__main__"].drawn == drawn
"""
_DISTURBING = """
import os, random, sys, threading, warnings
import numpy as np

sys.argv.append("more")
sys.path.insert(0, "/nowhere")
os.environ["PLANTED"] = "1"
random.seed(5)
np.random.seed(5)
warnings.simplefilter("error")
os.makedirs("inner/inner", exist_ok=True)
os.chdir("inner")
sys.stdout = None
threading.Thread(target=print).start()
sys.exit()
"""


def test_a_program_does_not_see_its_predecessors(library: Library) -> None:
    disturbing = _STATEFUL[library.name] + _DISTURBING
    cases = [program(library.training + _OWN_STATE), program(disturbing)]

    before, disturbed, after = library.run(*cases, cases[0])

    assert isinstance(before, Passed), before
    assert isinstance(disturbed, Passed), disturbed
    assert isinstance(after, Passed), after
    seen = outputs(before)
    assert seen["main"] == Scalar("o", "1")
    assert seen["searched"] == seen["strict"] == Scalar("o", "0")
    unlike = {name for name, output in outputs(after).items() if str(output) != str(seen[name])}
    assert unlike == {"folder"}  # files stay, as on a user's disk


@pytest.mark.parametrize(
    ("source", "exception", "stage"),
    [
        ("import sys\nsys.exit(3)", "SystemExit", Stage.BUILD),
        ("x = 1\nassert x == 2", "AssertionError", Stage.BUILD),
        ("x = 1\nraise ValueError(x)", "ValueError", Stage.BUILD),
        ("x = 1\ny = missing", "NameError", Stage.BUILD),
        ("x = 1\nx.missing", "AttributeError", Stage.BUILD),
        ("x = 1\ndef f(:", "SyntaxError", Stage.BUILD),
        ("x = 1\ninput()", "EOFError", Stage.CALL),
        ("import json\njson.loads('{')", "JSONDecodeError", Stage.CALL),
    ],
)
def test_failure_of_the_program_itself_is_not_a_library_outcome(
    library: Library, source: str, exception: str, stage: Stage
) -> None:
    (outcome,) = library.run(program(source))

    assert isinstance(outcome, Rejected), outcome
    assert (outcome.exception, outcome.stage) == (exception, stage)
    assert locate_message(outcome.message).line == 2


@pytest.mark.library("torch")
def test_torchscript_reads_the_text_of_a_program(
    environment_of: Callable[[str], Environment],
) -> None:
    source = """
import torch

@torch.jit.script
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2

twice = doubled(torch.ones(3))
"""
    with Dispatcher() as dispatcher:
        for server in dispatcher.start(
            [worker_spec("torch", environment_of("torch"), Config())]
        ).values():
            assert isinstance(server, ServerProcess), server
        (outcome,) = Library("torch", dispatcher).run(program(source))

    twice = outputs(outcome)["twice"]
    assert isinstance(twice, TensorOutput)
    assert twice.elements.tolist() == [2.0, 2.0, 2.0]
