"""Xid messages in the kernel's log: a file with the lines of /dev/kmsg, or a journal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.execution import kernel_log
from ciguard.execution.kernel_log import MAX_LINES, KernelLog

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FAULT = (
    "NVRM: Xid (PCI:0000:0a:00): 31, pid=13332, name=python3, Ch 00000010, intr 00000000. MMU "
    "Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f29_5b8c9000. Fault is of type "
    "FAULT_PDE ACCESS_TYPE_VIRT_WRITE"
)
UNNAMED = (
    "NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp Exception "
    "on (GPC 7, TPC 7, SM 0): Illegal Instruction Parameter"
)
OF_ANOTHER = "NVRM: Xid (PCI:0000:0a:00): 45, pid=1333, name=python3, Ch 00000008"
OLDER = "NVRM: Xid (0000:03:00): 13, Graphics Exception: ESR 0x404490=0x80000001"
SHOWN = {
    FAULT: FAULT.replace("pid=13332, name=python3, ", ""),
    UNNAMED: UNNAMED.replace("pid='<unknown>', name=<unknown>, ", ""),
    OF_ANOTHER: OF_ANOTHER.replace("pid=1333, name=python3, ", ""),
    OLDER: OLDER,
}
OTHERS = "usb 1-1: new device\n6,13,9,-;NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.159.03"


@pytest.fixture
def messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "kmsg"
    path.write_text(f"6,1,1,-;{OLDER}\n", encoding="utf-8")
    monkeypatch.setattr(kernel_log, "KERNEL_MESSAGES", path)
    return path


@pytest.fixture
def log(messages: Path) -> Iterator[KernelLog]:
    assert messages.exists()
    opened = KernelLog()
    yield opened
    opened.close()


def append(path: Path, *lines: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"3,12,5140900,-;{line}\n SUBSYSTEM=pci\n" for line in lines)


def test_only_new_xid_messages_are_returned_once(messages: Path, log: KernelLog) -> None:
    append(messages, OTHERS, FAULT)

    assert log.xid_lines() == [SHOWN[FAULT]]
    assert log.xid_lines() == []


@pytest.mark.parametrize("line", [FAULT, UNNAMED, OF_ANOTHER, OLDER])
def test_messages_of_all_versions_of_the_driver_are_read(
    messages: Path, log: KernelLog, line: str
) -> None:
    append(messages, line)

    assert log.xid_lines() == [SHOWN[line]]


def test_messages_that_name_the_process_take_precedence(messages: Path, log: KernelLog) -> None:
    append(messages, OF_ANOTHER, FAULT, UNNAMED)
    assert log.xid_lines(13332) == [SHOWN[FAULT]]

    append(messages, OF_ANOTHER, FAULT)  # in a container, the process has another number
    assert log.xid_lines(7) == [SHOWN[OF_ANOTHER], SHOWN[FAULT]]


def test_many_and_long_messages_are_cut(messages: Path, log: KernelLog) -> None:
    append(messages, *[OF_ANOTHER + " x" * 500] * 50)

    lines = log.xid_lines()

    assert len(lines) == MAX_LINES
    assert max(map(len, lines)) <= 300


@given(st.binary(max_size=200))
def test_any_bytes_can_be_logged(data: bytes) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    log = KernelLog()
    log.close()
    log._descriptor = reading
    os.write(writing, data + b"\n4,1,1,-;" + FAULT.encode() + b"\n")

    assert SHOWN[FAULT] in log.xid_lines()
    log.close()
    os.close(writing)


def journal(folder: Path, text: str, *, code: int = 0) -> None:
    program = folder / "journalctl"
    program.write_text(
        f"#!/bin/sh\ncase \"$*\" in *--dmesg*--since=@*) cat <<'END'\n{text}\nEND\nesac\n"
        f"echo ran >> {folder}/runs\nexit {code}\n",
        encoding="utf-8",
    )
    program.chmod(0o700)


def test_the_journal_takes_the_place_of_an_unreadable_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_log, "KERNEL_MESSAGES", tmp_path / "absent")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    journal(tmp_path, f"{OTHERS}\n{FAULT}")

    assert KernelLog().xid_lines() == [SHOWN[FAULT]]


def test_a_journal_that_fails_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_log, "KERNEL_MESSAGES", tmp_path / "absent")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    journal(tmp_path, FAULT, code=1)
    log = KernelLog()

    assert [log.xid_lines(), log.xid_lines()] == [[], []]
    assert (tmp_path / "runs").read_text("utf-8") == "ran\n"


def test_without_a_log_and_a_journal_there_are_no_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_log, "KERNEL_MESSAGES", tmp_path / "absent")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert KernelLog().xid_lines() == []
