"""Provisioning with the real uv, from a folder of tiny wheels in place of an index."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny_wheels import write_wheel

from ciguard.errors import ProvisioningError
from ciguard.libraries import LIBRARIES, Library
from ciguard.targets import (
    Environment,
    list_environments,
    newest_release,
    parse_target,
    provision,
    provision_all,
    prune_environments,
)

IMPORT_TAKES_TIME = """
import os, pathlib, time
pathlib.Path(os.environ["TINY_STARTED"]).touch() if "TINY_STARTED" in os.environ else None
time.sleep(float(os.environ.get("TINY_IMPORT_S", "0")))
__version__ = "1.0"
"""

SYNC = """
import signal
import sys
from pathlib import Path
from ciguard.libraries import LIBRARIES, Library
from ciguard.targets import parse_target, provision

LIBRARIES.register(
    "tiny",
    Library(name="tiny", distributions=("tiny",), module="tiny", adapter=Path("tiny.py")),
)
# A test run in the background of a shell passes on that SIGINT is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
environment = provision(parse_target(sys.argv[1]), on_step=lambda step: print(step, flush=True))
print("root", environment.root, flush=True)
"""


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in place of an index, with a library `tiny` and a substitute for numpy."""
    folder = tmp_path / "wheels"
    write_wheel(folder, "tiny", version="1.0", code=IMPORT_TAKES_TIME)
    write_wheel(folder, "tiny", version="1.1", code="__version__ = '1.1'")
    write_wheel(folder, "numpy", version="2.0", code="")
    tiny = Library(
        name="tiny",
        distributions=("tiny",),
        module="tiny",
        adapter=Path("tiny.py"),
    )
    LIBRARIES.items()
    monkeypatch.setitem(LIBRARIES._items, "tiny", tiny)
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    return folder


def provisioned(text: str, *, steps: list[str] | None = None) -> Environment:
    return provision(parse_target(text), on_step=(steps if steps is not None else []).append)


def start_sync(text: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SYNC, text],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path: Path, *, limit_s: float = 60.0) -> None:
    deadline_s = time.monotonic() + limit_s
    while not path.exists():
        assert time.monotonic() < deadline_s, f"{path} did not appear"
        time.sleep(0.02)


def commands_from(folder: Path) -> list[str]:
    """Return the running commands that mention a folder."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = os.fsdecode(path.read_bytes())
        except OSError:
            continue
        if str(folder) in command:
            commands.append(command)
    return commands


def wait_until_gone(folder: Path, *, limit_s: float = 10.0) -> None:
    deadline_s = time.monotonic() + limit_s
    while commands_from(folder):
        assert time.monotonic() < deadline_s, f"still running: {commands_from(folder)}"
        time.sleep(0.02)


def test_a_target_is_installed_imported_and_recorded() -> None:
    environment = provisioned("tiny==1.0 + numpy")

    completed = subprocess.run(
        [environment.python, "-c", "import tiny; print(tiny.__file__)"],
        env=dict(environment.variables),
        check=True,
        capture_output=True,
        text=True,
    )
    module = Path(completed.stdout.strip())
    assert environment.library.name == "tiny"
    assert environment.version == "1.0"
    assert environment.packages == {"tiny": "1.0", "numpy": "2.0"}
    assert environment.root in module.parents
    assert list((module.parent / "__pycache__").glob("tiny.*.pyc"))
    assert any(folder in module.parents for folder in environment.readable)


def test_bytecode_of_modules_that_calls_import_later_is_written_if_they_exist(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = dataclasses.replace(LIBRARIES.get("tiny"), lazy_modules=("missing.module", "later"))
    monkeypatch.setitem(LIBRARIES._items, "tiny", tiny)
    write_wheel(index, "later", version="1.0", code="")

    environment = provisioned("tiny==1.0 + numpy + later")

    assert len([*environment.root.rglob("later.*.pyc")]) == 1


def test_a_cached_environment_is_returned_without_progress_messages() -> None:
    first = provisioned("tiny==1.0 + numpy")
    steps: list[str] = []

    second = provisioned("tiny==1.0 + numpy", steps=steps)

    assert second == first
    assert steps == []


def test_two_concurrent_processes_install_the_same_target_once() -> None:
    syncs = [start_sync("tiny==1.0 + numpy TINY_IMPORT_S=1") for _ in range(2)]

    outputs = [sync.communicate(timeout=120)[0] for sync in syncs]

    assert [sync.returncode for sync in syncs] == [0, 0]
    assert sum("installing" in text for text in outputs) == 1
    assert sum("waiting for another ciguard" in text for text in outputs) == 1
    assert len({text.splitlines()[-1] for text in outputs}) == 1


def test_a_killed_installation_leaves_no_process_and_the_next_one_succeeds(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "started"
    sync = start_sync(f"tiny==1.0 + numpy TINY_IMPORT_S=60 TINY_STARTED={mark}")
    wait_for(mark)
    sync.kill()
    sync.communicate()
    wait_until_gone(tmp_path / "cache")
    remaining = list_environments()

    environment = provisioned("tiny==1.0 + numpy")

    assert [stored.is_complete for stored in remaining] == [False]
    assert [stored.is_complete for stored in list_environments()] == [True]
    assert {entry.name for entry in environment.root.parent.iterdir()} == {
        environment.root.name,
        "environment.json",
    }


def test_an_interrupted_installation_kills_its_children_and_leaves_no_environment(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "started"
    sync = start_sync(f"tiny==1.0 + numpy TINY_IMPORT_S=60 TINY_STARTED={mark}")
    wait_for(mark)

    sync.send_signal(signal.SIGINT)
    _, errors = sync.communicate(timeout=20)

    assert "KeyboardInterrupt" in errors
    wait_until_gone(tmp_path / "cache")
    assert list_environments() == []


def test_an_undeclared_dependency_is_an_error_with_its_name(index: Path) -> None:
    write_wheel(index, "tiny", version="1.2", code="from pieces.parts import part")

    with pytest.raises(ProvisioningError, match=r"after the library: \+ pieces"):
        provisioned("tiny==1.2 + numpy")


def test_an_unresolvable_target_is_an_error_with_its_name_and_a_remedy() -> None:
    with pytest.raises(ProvisioningError) as caught:
        provisioned("tiny==9.9 + numpy")

    message = str(caught.value)
    assert message.startswith("target 'tiny==9.9 + numpy': ")
    assert "tiny==9.9" in message.split("\n", 1)[1]
    assert "Check that this version exists" in message
    assert list_environments() == []


def test_secrets_of_the_index_are_masked_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    # No server listens on port 9 (discard).
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://user:hunter2@127.0.0.1:9/simple")

    with pytest.raises(ProvisioningError) as caught:
        provisioned("tiny==9.9 + numpy")

    assert "hunter2" not in str(caught.value)
    assert "Check the network" in str(caught.value)


def test_a_missing_interpreter_is_an_error_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")

    with pytest.raises(ProvisioningError, match=r"cannot create an environment with Python 3\.99"):
        provisioned("tiny==1.0 + numpy python3.99")


def test_a_failed_import_is_an_error_with_the_last_output(index: Path) -> None:
    broken = write_wheel(index.parent, "tiny", version="2.0", code="raise OSError('no libfoo.so')")

    with pytest.raises(ProvisioningError) as caught:
        provisioned(f"{broken} + numpy")

    assert "importing numpy, tiny" in str(caught.value)
    assert "OSError: no libfoo.so" in str(caught.value)
    assert list_environments() == []


def test_a_changed_wheel_is_installed_again(index: Path) -> None:
    wheel = write_wheel(index.parent, "tiny", version="3.0", code="__version__ = 'first'")
    first = provisioned(f"{wheel} + numpy")
    write_wheel(index.parent, "tiny", version="3.0", code="__version__ = 'second'")

    second = provisioned(f"{wheel} + numpy")

    assert first.library.name == "tiny"
    assert (first.version, second.version) == ("first", "second")
    assert first.key != second.key
    assert first.packages["tiny"] == "3.0"


def test_a_relative_wheel_is_found_from_the_current_folder(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(index.parent / "my dist", "tiny", version="3.0", code="__version__ = '3.0'")
    monkeypatch.chdir(index.parent)

    environment = provisioned("'./my dist/tiny-3.0-py3-none-any.whl' + numpy")

    assert environment.version == "3.0"


def test_a_library_that_compiles_finds_the_headers_of_its_interpreter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = Path(sys.executable).resolve()
    names = (f"{base.name}-config", "python3-config")
    base_script = next(base.parent / name for name in names if (base.parent / name).exists())
    tiny = dataclasses.replace(
        LIBRARIES.get("tiny"), needs_processes=True, cache_variable="TINY_HOME"
    )
    monkeypatch.setitem(LIBRARIES._items, "tiny", tiny)

    environment = provisioned("tiny==1.0 + numpy")

    outputs = [
        subprocess.run([script, "--includes"], check=True, capture_output=True).stdout
        for script in (base_script, environment.python.parent / names[0])
    ]
    assert outputs[0] == outputs[1]
    assert environment.cache is not None
    assert environment.cache.is_dir()
    assert environment.variables["TINY_HOME"] == str(environment.cache)


def test_other_targets_are_provisioned_when_one_fails() -> None:
    texts = ["tiny==1.0 + numpy", "tiny==9.9 + numpy", "tiny==1.1 + numpy", "tiny==1.0 + numpy"]

    results = provision_all([parse_target(text) for text in texts], on_step=list[str]().append)

    assert list(results) == [*texts[:3], "tiny==1.0 + numpy #2"]
    assert isinstance(results[texts[1]], ProvisioningError)
    assert results[texts[0]] == results["tiny==1.0 + numpy #2"]
    versions = [result.version for result in results.values() if isinstance(result, Environment)]
    assert versions == ["1.0", "1.1", "1.0"]


def test_a_refresh_installs_a_new_release(index: Path) -> None:
    before = provisioned("tiny + numpy")
    write_wheel(index, "tiny", version="1.2", code="__version__ = '1.2'")

    cached = provisioned("tiny + numpy")
    fresh = provision(parse_target("tiny + numpy"), on_step=list[str]().append, refresh=True)

    assert (before.version, cached.version, fresh.version) == ("1.1", "1.1", "1.2")
    assert not before.root.exists()
    assert provisioned("tiny + numpy") == fresh


def test_pruning_keeps_an_environment_in_use() -> None:
    environment = provisioned("tiny==1.0 + numpy")
    with subprocess.Popen(
        [environment.python, "-c", "input(1)"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.read(1)
        removed_in_use = prune_environments()
        process.communicate(b"\n")

    removed = prune_environments()

    assert removed_in_use == []
    assert [stored.key for stored in removed] == [environment.key]
    assert not environment.root.exists()


def test_the_active_environment_is_used_without_installation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = provisioned("tiny==1.0 + numpy")
    monkeypatch.setenv("VIRTUAL_ENV", str(installed.python.parent.parent))
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_secret")

    environment = provisioned("current")
    named = provisioned("current[tiny] A=1")

    assert environment.library.name == named.library.name == "tiny"
    assert environment.version == "1.0"
    assert environment.python == installed.python
    assert named.variables["A"] == "1"
    assert "ghs_secret" not in environment.variables.values()


def test_an_active_environment_without_numpy_is_refused_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    monkeypatch.setenv("VIRTUAL_ENV", str(folder))

    with pytest.raises(ProvisioningError) as caught:
        provisioned("current")

    assert str(caught.value) == (
        f"target 'current': workers need numpy in {folder}: it is not installed\n"
        f"Install it, e.g. with `uv pip install --python '{folder}/bin/python' numpy`."
    )


def test_an_active_environment_without_the_library_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = provisioned("tiny==1.0 + numpy")
    monkeypatch.setenv("VIRTUAL_ENV", str(installed.python.parent.parent))

    with pytest.raises(ProvisioningError, match=r"current\[jax\].*does not have jax"):
        provisioned("current[jax]")


@pytest.mark.parametrize(
    ("requirement", "version"), [("tiny", "1.1"), ("tiny<1.1,>=0.9", "1.0"), ("tiny>5", "")]
)
def test_the_newest_release_of_a_range_comes_from_the_index(requirement: str, version: str) -> None:
    assert newest_release(requirement) == version
