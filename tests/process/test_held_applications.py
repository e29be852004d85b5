"""Confinement of applications of a pull request, attacked by a hostile application."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from ciguard.execution import FileAccess, Host, HostSettings, ProcessEnded, TimedOut
from ciguard.execution.process import BOOTSTRAP
from ciguard.execution.worker import confine
from ciguard.functions.hosting import ProgramSettings
from ciguard.functions.hosting.host import ProgramHost
from ciguard.levels.app.exploration import (
    CallDidNotReturn,
    CallEnded,
    FunctionCaller,
    ProcessEnvironment,
    arguments_for,
    host_of,
    plain_contents,
    routines_of,
)
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.app.exploration.function_caller import Call

CAPPED_BOOTSTRAP = Path(__file__).parents[1] / "examples" / "capped_bootstrap.py"
APPLICATION = """
import os, signal, socket, subprocess, sys, threading, time
from google.cloud import vision
{at_import}

def attack(image):
    client = vision.ImageAnnotatorClient()
    client.label_detection(image=vision.Image(content=image))
    reached = {expression}
    raise RuntimeError(f"GOT THROUGH: {{reached!r}}")
"""


DEFINITIONS = """
def scribble(descriptor):
    try:
        os.write(descriptor, b'{\\n')
    except OSError:
        pass  # nobody reads there: the connection is another one

def run_for_ever():
    while True:
        pass  # a nap would be shortened
"""


@dataclass
class Attacked:
    """What became of an attack."""

    answer: Call
    confined_by: tuple[str, ...]

    @property
    def refusal(self) -> str:
        """Type of the exception that ended it."""
        assert isinstance(self.answer, CallEnded), self.answer
        return str(self.answer.exception["type"])

    @property
    def message(self) -> str:
        """Message of the exception that ended it."""
        assert isinstance(self.answer, CallEnded), self.answer
        return str(self.answer.exception["message"])


def attacked(
    folder: Path,
    expression: str,
    *,
    at_import: str = "",
    process_environment: ProcessEnvironment | None = None,
) -> Attacked:
    """Run an application that evaluates an expression when it is called."""
    app = folder / "app"
    app.mkdir(exist_ok=True)
    (app / "app.py").write_text(APPLICATION.format(at_import=at_import, expression=expression))
    application = read_application(app)
    (found,) = find_service_functions(application, known_providers())
    module, routine = routines_of(application)[found.name]
    inputs = folder / "inputs"
    inputs.mkdir(exist_ok=True)
    arguments = arguments_for(found, routine, plain_contents(), inputs)[0]
    with host_of(
        application, [found], sys.executable, process_environment=process_environment, inputs=inputs
    ) as host:
        answer = FunctionCaller(host, found, module, routine).call(arguments, answers={})
        return Attacked(answer, host.confined_by)


@pytest.mark.parametrize(
    "expression",
    [
        "open('/proc/GUARD/environ', 'rb').read()",
        "open('/proc/GUARD/mem', 'rb').read(1)",
        "os.kill(GUARD, 0)",
        "os.sched_setscheduler(GUARD, os.SCHED_OTHER, os.sched_param(0))",
        "os.fork()",
        "subprocess.run([sys.executable, '-c', ''])",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "socket.socket(socket.AF_UNIX)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)",
        "socket.socket(socket.AF_INET6)",
        "socket.create_server(('127.0.0.1', 0))",
        "socket.socket().listen()",
        "open('SECRET').read()",
        "os.chmod(__file__, 0o777)",
        "os.utime(__file__)",
    ],
    ids=lambda text: text[:40],
)
def test_application_attacking_the_machine_is_refused(tmp_path: Path, expression: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    attack = expression.replace("GUARD", str(os.getpid())).replace("SECRET", str(secret))

    assert attacked(tmp_path, attack).refusal == "PermissionError"


@pytest.mark.parametrize("place", ["own environment", "cache", "its folder", "checkout", "inputs"])
def test_application_writing_outside_of_its_own_folder_is_refused(
    tmp_path: Path, place: str
) -> None:
    packages = next(Path(entry) for entry in sys.path if entry.endswith("site-packages"))
    for name in ("cache", "app", "inputs"):
        (tmp_path / name).mkdir()
    target = {
        "own environment": packages / "hostile_of_a_test.pth",
        "cache": tmp_path / "cache" / "entry",
        "its folder": tmp_path / "app" / "conftest.py",
        "checkout": tmp_path / "conftest.py",
        "inputs": tmp_path / "inputs" / "planted.png",
    }[place]

    try:
        result = attacked(tmp_path, f"open({str(target)!r}, 'w')")
        assert not target.exists()
    finally:
        target.unlink(missing_ok=True)

    assert result.refusal == "PermissionError"


def test_application_attacking_when_it_is_imported_is_refused(tmp_path: Path) -> None:
    outcome = "SEEN = 'nothing'"
    attack = f"open('/proc/{os.getpid()}/environ', 'rb').read()"
    at_import = f"{outcome}\ntry:\n    SEEN = {attack}\nexcept OSError as error:\n    SEEN = error"

    result = attacked(tmp_path, "SEEN", at_import=at_import)

    assert "PermissionError" in result.message


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """Listen on the loopback; yield the port, and a list that grows with each connection."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                heard.append(connection.recv(100))

        threading.Thread(target=listen, daemon=True).start()
        yield server.getsockname()[1], heard
        time.sleep(0.2)
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "attack",
    [
        "socket.create_connection(('127.0.0.1', {port}))",
        "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', {port}))",
        "socket.socket().sendmsg([b'x'], [], 0x20000000, ('127.0.0.1', {port}))",
    ],
    ids=["connect", "fast open", "fast open by message"],
)
def test_application_connecting_elsewhere_is_refused(tmp_path: Path, attack: str) -> None:
    with listening() as (port, heard):
        result = attacked(tmp_path, attack.format(port=port))

    assert result.refusal == "PermissionError"
    assert not heard


def test_application_sees_no_secret_and_a_home_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "s3cret")
    monkeypatch.setenv("OF_THE_USER", "kept")

    seen = attacked(tmp_path, "'s3cret' in str(os.environ), os.environ['OF_THE_USER']")
    home = attacked(tmp_path, "os.listdir(os.environ['HOME'])").message

    assert "(False, 'kept')" in seen.message
    assert "GOT THROUGH: ['application']" in home  # a copy of the application's folder


def test_git_folder_of_a_checkout_is_not_readable_and_the_checkout_is_importable(
    tmp_path: Path,
) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    (tmp_path / "app" / ".git" / "config").write_text("token")
    (tmp_path / "app" / "beside.py").write_text("VALUE = 3\n")

    read = attacked(tmp_path, "open(os.path.join(os.path.dirname(__file__), '.git/config')).read()")
    imported = attacked(tmp_path, "beside.VALUE", at_import="import beside")

    assert read.refusal == "PermissionError"
    assert "GOT THROUGH: 3" in imported.message


@pytest.mark.parametrize(
    "attack",
    [
        "[scribble(fd) for fd in range(3, 1024) if os.path.exists(f'/proc/self/fd/{fd}')]",
        "os.closerange(3, 1024) or run_for_ever()",
        "[open(f'{os.environ[\"HOME\"]}/{n}', 'w') for n in range(10_050)] and run_for_ever()",
    ],
    ids=["garbage", "closed", "files"],
)
@pytest.mark.slow
def test_application_breaking_its_connection_is_terminated(tmp_path: Path, attack: str) -> None:
    answer = attacked(tmp_path, attack, at_import=DEFINITIONS).answer

    assert answer == CallDidNotReturn("ends its process")


def test_application_is_confined_by_all_mechanisms_of_this_kernel(tmp_path: Path) -> None:
    names = attacked(tmp_path, "1").confined_by

    assert set(names) >= {"reaper", confine.CAPABILITIES, confine.LANDLOCK, confine.SECCOMP}


@pytest.mark.parametrize("version", [0, 3, 4, 5])
def test_application_on_an_older_kernel_starts_no_process_and_opens_no_connection(
    tmp_path: Path, version: int
) -> None:
    variables = {
        "LANDLOCK": str(version),
        "BOOTSTRAP": str(BOOTSTRAP),
        "PYTHONPATH": str(CAPPED_BOOTSTRAP.parent),
    }
    around = ProcessEnvironment(variables={**os.environ, **variables})
    with (
        listening() as (port, heard),
        mock.patch("ciguard.execution.host_process.BOOTSTRAP", CAPPED_BOOTSTRAP),
    ):
        connect = f"socket.create_connection(('127.0.0.1', {port}))"
        for attack in ("os.fork()", connect, f"os.kill({os.getpid()}, 0)"):
            result = attacked(tmp_path, attack, process_environment=around)

            assert result.refusal == "PermissionError"
            assert (confine.LANDLOCK in result.confined_by) is bool(version)

    assert not heard


def test_unconfined_application_has_the_permissions_of_the_user(tmp_path: Path) -> None:
    result = attacked(
        tmp_path, "os.fork()", process_environment=ProcessEnvironment(is_confined=False)
    )

    assert "GOT THROUGH" in result.message
    assert not result.confined_by


DAEMON = """
import os, time
if os.environ.get("LEAVES_A_DAEMON"):
    note = os.path.join(os.environ["HOME"], "daemon")
    if not os.path.exists(note) and os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        with open(note, "w") as file:
            file.write(str(os.getpid()))
        for descriptor in range(3, 20):
            try:
                os.close(descriptor)
            except OSError:
                pass
        time.sleep(600)
    while not os.path.exists(note) or not open(note).read():
        time.sleep(0.01)
"""


def test_daemon_of_an_environment_ends_with_the_host(tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", environment], check=True, timeout=60
    )
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "hostile.pth").write_text("import hostile_start\n")
    (packages / "hostile_start.py").write_text(DAEMON)
    held = FileAccess(readable=(environment, Path(sys.prefix), Path(sys.base_prefix)))
    settings = ProgramSettings(
        python=str(environment / "bin" / "python"),
        path=[str(tmp_path)],
        held=held,
        environment={"LEAVES_A_DAEMON": "1"},
    )
    with ProgramHost(settings) as host:
        host.ask({"op": "save"}, limit_s=30)
        daemon = int((host.folder / "home" / "daemon").read_text())
        os.kill(daemon, 0)

    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


FATAL = """
import faulthandler, os, signal, socket, time

def run(settings, descriptor):
    stack = open(settings["stack"], "ab", buffering=0)
    faulthandler.enable(stack)
    faulthandler.register(signal.SIGUSR1, stack, all_threads=False)
    with socket.socket(fileno=descriptor) as channel:
        channel.sendall(b'{"ready": ""}\\n')
        channel.recv(1000)
        fatal()

def fatal():
    CODE
"""


def held_host(folder: Path, code: str) -> Host:
    (folder / "fatal_entry.py").write_text(FATAL.replace("CODE", code))
    readable = (folder, Path(sys.prefix), Path(sys.base_prefix))
    variables = {"PYTHONPATH": str(folder)}
    return Host(
        HostSettings(
            entry="fatal_entry",
            held=FileAccess(readable=readable),
            environment={},
            variables=variables,
        )
    )


def test_signal_that_ends_a_confined_process_is_reported_with_the_stack(tmp_path: Path) -> None:
    with held_host(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)") as host:
        answer = host.ask({}, limit_s=30)

    assert isinstance(answer, ProcessEnded)
    assert (answer.cause, answer.is_signal) == ("SIGSEGV", True)
    assert [frame.function for frame in answer.frames][-1] == "fatal"


def test_exit_of_a_confined_process_is_reported_with_its_status(tmp_path: Path) -> None:
    with held_host(tmp_path, "os._exit(3)") as host:
        answer = host.ask({}, limit_s=30)

    assert answer == ProcessEnded("exit status 3", is_signal=False, frames=())


def test_stack_of_a_confined_process_that_hangs_is_reported(tmp_path: Path) -> None:
    with held_host(tmp_path, "time.sleep(600)") as host:
        answer = host.ask({}, limit_s=1)

    assert isinstance(answer, TimedOut)
    assert [frame.function for frame in answer.frames][-1] == "fatal"


def test_confined_process_cannot_replace_the_files_that_ciguard_reads(tmp_path: Path) -> None:
    code = "os.unlink(settings_stack())"
    with held_host(tmp_path, code.replace("settings_stack()", "'../stack'")) as host:
        answer = host.ask({}, limit_s=30)
        _, errors = host.output()

    assert isinstance(answer, ProcessEnded)
    assert "PermissionError" in errors


def test_confined_process_that_ignores_termination_is_killed(tmp_path: Path) -> None:
    code = "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    began = time.monotonic()
    with held_host(tmp_path, code) as host:
        answer = host.ask({}, limit_s=1)

    assert isinstance(answer, TimedOut)
    assert time.monotonic() - began < 30
