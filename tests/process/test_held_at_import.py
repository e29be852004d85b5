"""What a library does when it is imported, and what its environment does before: held already."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from planted_workers import outcome_of, spec_of, started

from ciguard.domain.outcomes import Passed
from ciguard.errors import WorkerStartError
from ciguard.execution import Dispatcher
from ciguard.execution.worker.quota import MAX_THREADS

if TYPE_CHECKING:
    from ciguard.execution import WorkerSpec

ADAPTER = """
from ciguard_planted.adapter import PlantedAdapter

class ADAPTER(PlantedAdapter):
    def load(self, device):
        super().load(device)
        from planted import attacks
        try:
            self._attacked = attacks.{attack}
        except OSError as error:
            self._attacked = type(error).__name__

    def version(self):
        return self._attacked
"""


ENDLESS = """
from ciguard_planted.adapter import PlantedAdapter

class ADAPTER(PlantedAdapter):
    def describe(self):
        yield {"api": "x" * 300_000_000}
"""


def attacking(folder: Path, attack: str) -> WorkerSpec:
    adapter = folder / "adapter.py"
    adapter.write_text(ADAPTER.format(attack=attack))
    return spec_of(adapter=adapter)


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_library_sends_no_packet_when_it_is_imported(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener, Dispatcher() as running:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(0)

        server = started(running, attacking(tmp_path, f"send_udp({listener.getsockname()[1]})"))

        assert server.version == "PermissionError"
        with pytest.raises(BlockingIOError):
            listener.recv(100)


@pytest.mark.parametrize(
    "attack",
    [
        "make_ring()",
        "steal_descriptor({guard}, 0)",
        "send_signal({guard})",
        "limit_cpu({guard})",
        "share_memory('system v')",
    ],
)
def test_a_library_is_held_when_it_is_imported(tmp_path: Path, attack: str) -> None:
    with Dispatcher() as running:
        server = started(running, attacking(tmp_path, attack.format(guard=os.getpid())))

        assert server.version in {"PermissionError", "OSError"}


def test_a_library_that_prints_for_ever_when_it_is_imported_is_ended(tmp_path: Path) -> None:
    spec = attacking(tmp_path, "print_for_ever()")
    spec = replace(spec, limits=replace(spec.limits, start_s=15.0))

    with Dispatcher() as running:
        failure = running.start([spec])[spec.name]

    assert isinstance(failure, WorkerStartError)
    assert "printed over 64 MiB" in str(failure)


def test_a_catalogue_without_end_is_not_read(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter.py"
    adapter.write_text(ENDLESS)

    with Dispatcher() as running:
        started(running, spec_of(adapter=adapter))

        with pytest.raises(WorkerStartError, match="its public API cannot be listed"):
            list(running.tasks("planted").describe())


@pytest.mark.parametrize("ending", ["stop", "death of the server", "death of ciguard"])
def test_a_daemon_of_the_import_ends_with_the_run(tmp_path: Path, ending: str) -> None:
    spec = attacking(tmp_path, "leave_daemon('daemon')")
    script = (
        "import sys, time; sys.path[:0] = {path!r}; from pathlib import Path\n"
        "from planted_workers import *\n"
        "running = Dispatcher(); started(running, spec_of(adapter=Path({adapter!r})))\n"
        "(note,) = running.scratch.glob('*/daemon'); print(note.read_text(), flush=True)\n"
        "time.sleep(60)\n"
    )
    if ending == "death of ciguard":
        text = script.format(path=sys.path, adapter=str(spec.adapter))
        with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as guard:
            assert guard.stdout is not None
            daemon = int(guard.stdout.readline())
            os.kill(daemon, 0)
            guard.kill()
    else:
        with Dispatcher() as running:
            server = started(running, spec)
            (note,) = running.scratch.glob("*/daemon")
            daemon = int(note.read_text())
            os.kill(daemon, 0)
            if ending == "death of the server":
                os.kill(children_of(server.process_id)[0], 9)
                assert wait_until_gone(daemon)

    assert wait_until_gone(daemon)


def children_of(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text()
    return list(map(int, children.split()))


def test_startup_code_of_an_environment_is_confined(tmp_path: Path) -> None:
    environment, outside = tmp_path / "environment", tmp_path / "outside"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", environment], check=True, timeout=60
    )
    (packages,) = environment.glob("lib/python*/site-packages")
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "hostile.pth").write_text(f"{ours}\nimport hostile_start\n")
    (packages / "hostile_start.py").write_text(
        "import os\n"
        "os.environ['STARTED'] = '1'\n"
        f"try:\n    open({str(outside)!r}, 'w')\n"
        "except OSError as error:\n    os.environ['REFUSED'] = str(error)\n"
    )
    spec = spec_of(
        python=environment / "bin" / "python",
        readable=(environment, Path(sys.prefix), Path(sys.base_prefix), *spec_of().readable),
    )

    with Dispatcher() as running:
        started(running, spec)
        names = outcome_of(running, "environment")

    assert isinstance(names, Passed), names
    assert b"STARTED" in names.encoded
    assert b"REFUSED" in names.encoded
    assert not outside.exists()


def test_a_daemon_of_the_import_is_ended_when_it_takes_too_much(tmp_path: Path) -> None:
    spec = attacking(tmp_path, f"leave_daemon('daemon', {3 * MAX_THREADS})")
    with Dispatcher() as running:
        started(running, spec)
        (note,) = running.scratch.glob("*/daemon")

        assert wait_until_gone(int(note.read_text()))
        assert isinstance(outcome_of(running, "double", 2), Passed)
