"""The device of Jittor: taken after the fork, and kept when the state is restored."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ciguard.libraries.in_target import devices
from ciguard.libraries.jittor.in_target import adapter as jittor_adapter
from ciguard.libraries.jittor.in_target.adapter import JittorAdapter

if TYPE_CHECKING:
    from pathlib import Path


class Variable:
    """A result of the stand-in."""

    def sync(self) -> None:
        """Compute."""


@pytest.fixture
def jittor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a stand-in for Jittor with CUDA, whose import takes minutes, on a machine with it."""
    (tmp_path / "nvidiactl").touch()
    monkeypatch.setattr(devices, "_DRIVER_FILES", (str(tmp_path / "nvidiactl"),))
    monkeypatch.setattr(jittor_adapter, "_remove_signal_handlers", lambda: None)
    found = SimpleNamespace(
        has_cuda=1,
        flags=SimpleNamespace(use_cuda=0, lazy_execution=1, use_parallel_op_compiler=1, no_grad=0),
        Var=Variable,
        core=SimpleNamespace(set_seed=lambda _: None),
        ones=lambda _: Variable(),
        matmul=lambda *_: Variable(),
        sync_all=lambda _: None,
    )
    monkeypatch.setitem(sys.modules, "jittor", found)
    for name in ("use_mkl", "gdb_path", "addr2line_path", "log_silent"):
        monkeypatch.setenv(name, "")
    return found


def test_cuda_is_used_from_the_start_of_the_device_on_and_not_in_the_fork_server(
    jittor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "total_memory", lambda: 80 << 30)
    adapter = JittorAdapter()

    adapter.load("cuda:0")
    assert jittor.flags.use_cuda == 0

    adapter.start_device(1024)
    assert jittor.flags.use_cuda == 1
    jittor.flags.use_cuda = 0  # as a call may do
    adapter.reset(1)
    assert jittor.flags.use_cuda == 1


def test_jittor_without_cuda_is_an_error_with_the_device(jittor: Any) -> None:
    jittor.has_cuda = 0

    with pytest.raises(RuntimeError, match="'cuda:0' is absent: jittor was compiled without CUDA"):
        JittorAdapter().load("cuda:0")
