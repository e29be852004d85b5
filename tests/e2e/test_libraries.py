"""The product on real libraries: short campaigns through the real command."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from ciguard_command import answer, command, lines_of, run_of
from command_server import environment

from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.domain.values import Constant, LiteralValue, TensorValue
from ciguard.execution import Dispatcher, Job, ServerProcess
from ciguard.oracles.relations import encode
from ciguard.targets import Environment

if TYPE_CHECKING:
    from pathlib import Path

EnvironmentOf = Callable[[str], Environment]

OLD, NEW = "tensorflow-cpu==2.12.0", "tensorflow-cpu==2.21.0"
STARTS = 30


def campaign(folder: Path, *targets: str, words: tuple[str, ...]) -> dict[str, Any]:
    """Run a campaign on targets and return its `run.json`."""
    options = [word for target in targets for word in ("--target", target)]
    completed = answer(command("run", *options, "--out", "out", *words), folder, timeout_s=500)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "BASELINE ESTABLISHED" in completed.stdout
    return run_of(folder / "out")


def assert_ran(run: dict[str, Any], *, cases: int, apis: int) -> None:
    """Check that each target ran enough cases and APIs, and that some cases passed."""
    for target in run["targets"]:
        assert target["not_run"] == ""
        assert target["cases"] >= cases
        assert target["apis_exercised"] >= apis
        assert target["outcomes"]["passed"] > cases // 10
        assert {"rlimits", "seccomp"} <= set(target["confined_by"])


def exit_status_of(environment_: Environment, script: Path, folder: Path) -> int:
    """Return the exit status of a reproducer in the target's interpreter, as a user runs it."""
    completed = subprocess.run(
        [str(environment_.python), str(script)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return completed.returncode


@pytest.mark.library("torch")
def test_campaign_on_torch_exercises_many_apis(
    environment_of: EnvironmentOf, tmp_path: Path
) -> None:
    target = environment_of("torch").target.name

    run = campaign(
        tmp_path,
        target,
        words=("--api", "torch.nn.functional.*", "--max-cases", "400", "--budget", "90s"),
    )

    assert_ran(run, cases=200, apis=20)


@pytest.mark.library("torch")
def test_campaign_on_torch_observes_operators_of_gradients(
    environment_of: EnvironmentOf, tmp_path: Path
) -> None:
    target = environment_of("torch").target.name
    globs = ("torch.nn.functional.interpolate", "torch.nn.Upsample*", "torch.ops.aten.upsample_*")
    words = [word for glob in globs for word in ("--api", glob)]

    campaign(tmp_path, target, words=(*words, "--budget", "90s"))

    _, *entries = lines_of(tmp_path / "out" / "experience-torch.jsonl")
    observed = {entry["api"]: entry.get("observed", ()) for entry in entries}
    models = observed["torch.ops.aten.upsample_nearest1d_backward"]
    assert {"grad_output", "output_size", "input_size"} <= dict(models[0]).keys()


@pytest.mark.slow
@pytest.mark.library("tensorflow")
def test_reproducer_of_a_tensorflow_crash_crashes_with_the_same_signal(
    environment_of: EnvironmentOf, tmp_path: Path
) -> None:
    environments = {name: environment_of(name) for name in (OLD, NEW)}
    globs = [
        word for glob in ("Quantize*", "Max*") for word in ("--api", f"tensorflow.raw_ops.{glob}")
    ]

    run = campaign(tmp_path, OLD, NEW, words=(*globs, "--max-cases", "1600", "--budget", "120s"))

    assert_ran(run, cases=400, apis=30)
    buckets = lines_of(tmp_path / "out" / "buckets.jsonl")
    crashes = [b for b in buckets if b["oracle"] == "crash" and b["confirmed"] and b["reproduced"]]
    assert crashes
    signals = {}
    for bucket in crashes[:3]:
        name = bucket["targets"][-1]
        cause = bucket["outcomes"][name]["cause"]
        script = tmp_path / "out" / bucket["reproducer"]
        code = exit_status_of(environments[name], script, tmp_path)
        signals[bucket["fingerprint"]] = (cause, signal.Signals(-code).name if code < 0 else code)
    assert all(cause == end for cause, end in signals.values()), signals


@pytest.mark.slow
@pytest.mark.library("tensorflow")
@pytest.mark.parametrize("name", [OLD, NEW])
def test_tensorflow_servers_start_many_workers_without_failure(
    name: str, environment_of: EnvironmentOf
) -> None:
    spec = worker_spec(name, environment_of(name), Config())
    tensor = TensorValue("float32", (64, 64), Constant(1.0))
    product = ApiCall(
        api="tensorflow.raw_ops.MatMul",
        kind=CallKind.FUNCTION,
        keywords=(("a", tensor), ("b", tensor)),
    )
    outcomes: list[Outcome] = []
    with Dispatcher() as dispatcher:
        server = dispatcher.start([spec])[name]
        assert isinstance(server, ServerProcess), server
        for number in range(STARTS):
            dispatcher.add(Job(name, number, (encode(product),) * 3, fresh=True))
        deadline = time.monotonic() + 240
        while len(outcomes) < 3 * STARTS and time.monotonic() < deadline:
            for result in dispatcher.wait(1.0):
                outcomes += result.outcomes

    assert len(outcomes) == 3 * STARTS
    assert {type(outcome) for outcome in outcomes} == {Passed}


@pytest.mark.slow
@pytest.mark.library("keras")
def test_campaign_on_keras_with_jax_exercises_several_apis(
    environment_of: EnvironmentOf, tmp_path: Path
) -> None:
    target = environment_of("keras").target.name

    run = campaign(
        tmp_path,
        target,
        words=("--api", "keras.ops.*", "--max-cases", "192", "--budget", "120s"),
    )

    assert_ran(run, cases=100, apis=8)
    assert run["targets"][0]["library"] == "keras"


@pytest.mark.slow
@pytest.mark.library("keras")
def test_weights_that_keras_draws_differ_between_perturbations(
    environment_of: EnvironmentOf,
) -> None:
    environment_ = environment_of("keras")
    name = environment_.target.name
    layer = ApiCall(
        api="keras.layers.Dense",
        kind=CallKind.LAYER,
        arguments=(LiteralValue(2),),
        inputs=(TensorValue("float32", (1, 3), Constant(1.0)),),
    )
    encoded_weights: dict[int, bytes] = {}
    with Dispatcher() as dispatcher:
        dispatcher.start([worker_spec(name, environment_, Config())])
        for number, perturb in enumerate((0x55, 0x55, 0xAA)):
            dispatcher.add(Job(name, number, (encode(layer),), fresh=True, perturb=perturb))
        deadline = time.monotonic() + 240
        while len(encoded_weights) < 3 and time.monotonic() < deadline:
            for result in dispatcher.wait(1.0):
                (outcome,) = result.outcomes
                assert isinstance(outcome, Passed), outcome
                assert isinstance(result.job.key, int)
                encoded_weights[result.job.key] = outcome.encoded

    assert encoded_weights[0] == encoded_weights[1]
    assert encoded_weights[0] != encoded_weights[2]


@pytest.mark.slow
@pytest.mark.library("jittor")
def test_campaign_on_jittor_keeps_compiled_kernels(
    environment_of: EnvironmentOf, tmp_path: Path
) -> None:
    jittor = environment_of("jittor")
    words = ("--api", "jittor.nn.*", "--max-cases", "48", "--budget", "240s")

    run = campaign(tmp_path, jittor.target.name, words=words)
    started_s = time.monotonic()
    second = campaign(tmp_path, jittor.target.name, words=("--baseline", "another", *words))

    assert_ran(run, cases=32, apis=2)
    assert run["targets"][0]["library"] == "jittor"
    assert jittor.cache is not None
    assert any(jittor.cache.rglob("*.so"))
    assert_ran(second, cases=32, apis=2)
    assert time.monotonic() - started_s < 240
