"""`ciguard app emulate` as a process: its output, its end, and invalid arguments."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from command_server import answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FAULTS = '[[fault]]\noperations = ["analyze_entities"]\nerror = "RESOURCE_EXHAUSTED"\n'
HOSTILE = (
    b"POST /\x1b[31m\xe2\x80\xae%0a HTTP/1.1",
    b"\x1b[31m \r",
    b"PO\x1bST /" + b"x" * 2000,
)
"""First lines of requests."""
DOCUMENT = json.dumps({"document": {"type": "PLAIN_TEXT", "content": "Fine."}}).encode()


@contextlib.contextmanager
def emulate(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Start the command, and yield it and the addresses in its first lines."""
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-m", "ciguard", "emulate", *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
        ) as process,
    ):
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(2)]
            yield process, re.findall(r"127\.0\.0\.1:(\d+)", "".join(lines))
        finally:
            process.kill()


def posted(port: str, path: str, content: bytes = DOCUMENT) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", content, timeout=60) as answer:
        return json.load(answer)


def ended(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """Return the exit code, and the output after the addresses."""
    process.send_signal(number)
    assert process.stdout is not None
    output = process.stdout.read()
    return process.wait(timeout=60), output


def logged_in(folder: Path) -> str:
    return (folder / "log").read_text("utf-8")


def refused(folder: Path, *words: str) -> tuple[int, str]:
    done = answer("emulate", *words, folder=folder)
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_emulate_prints_addresses_and_requests_and_ends_cleanly(
    tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "faults.toml").write_text(FAULTS)
    with emulate(tmp_path, "--faults", "faults.toml") as (process, (rest, _grpc)):
        posted(rest, "/v1/documents:analyzeSentiment?key=AIzaSecret")
        with pytest.raises(urllib.error.HTTPError, match="429"):
            posted(rest, "/v1/documents:analyzeEntities")
        code, output = ended(process, number)

    assert code == 0
    assert "google label_detection, " in output
    logged = logged_in(tmp_path)
    assert re.sub(r"\d\d:\d\d:\d\d|\d+\.\d\d", "N", logged) == (
        "N /v1/documents:analyzeSentiment analyze_sentiment: OK (N s)\n"
        "N /v1/documents:analyzeEntities analyze_entities: RESOURCE_EXHAUSTED: Quota exceeded. "
        "(N s)\n"
        "2 requests: 1 OK, 1 RESOURCE_EXHAUSTED\n"
    )


def test_emulate_prints_which_operations_are_simulated(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("Cat\nDog\n")
    with emulate(tmp_path, "--labels", "labels.txt") as (process, _):
        _, output = ended(process, signal.SIGTERM)

    made_up = next(line for line in output.splitlines() if "label_detection" in line)
    assert made_up.endswith(
        "simulated, generator of labels (of the vocabulary), texts and sentiment"
    )
    assert "google analyze_sentiment: recognised, VADER" in output.splitlines()


def test_emulate_escapes_requests_in_the_log(tmp_path: Path) -> None:
    with emulate(tmp_path) as (process, (rest, _grpc)):
        connection = http.client.HTTPConnection("127.0.0.1", int(rest), timeout=60)
        with contextlib.closing(connection):
            connection.putrequest("POST", "/", skip_host=True)
            connection.endheaders()
            connection.getresponse().read()
        for line in HOSTILE:
            with socket.create_connection(("127.0.0.1", int(rest)), timeout=60) as raw:
                raw.sendall(line + b"\r\nContent-Length: 0\r\n\r\n")
                raw.shutdown(socket.SHUT_WR)
                while raw.recv(1 << 16):
                    continue
        ended(process, signal.SIGTERM)

    logged = logged_in(tmp_path)
    assert "\\x1b[31m" in logged
    assert logged.replace("\n", "").isprintable()
    assert max(map(len, logged.splitlines())) <= 300
    assert logged.splitlines()[-1].startswith("4 requests: ")


def test_emulate_chooses_free_ports_and_refuses_one_in_use(tmp_path: Path) -> None:
    with emulate(tmp_path) as (_, (rest, grpc)):
        code, output = refused(tmp_path, "--port", rest)
        other_code, other = refused(tmp_path, "--grpc-port", grpc)

    assert (code, other_code) == (2, 2)
    assert f"cannot listen on 127.0.0.1:{rest}: " in output
    assert f"127.0.0.1:{grpc}: the address is in use, or is not an address of this machine" in other


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--faults faults.toml", "faults.toml: fault 1: error has to be one of"),
        ("--faults none.toml", "none.toml cannot be read as a list of faults"),
        ("--habits habits.toml", "has no effect without --images. Add --images"),
        (
            "--images images",
            "images: folder not found. Create the folder, with one",
        ),
        ("--replay none.jsonl", "none.jsonl cannot be read"),
        (
            "--replay a.jsonl --record b.jsonl",
            "contradicts --record b.jsonl. Remove one",
        ),
        ("--host no.such.host.invalid", "cannot listen on no.such.host.invalid:"),
        ("--python no-such-python", "--python no-such-python: program not found"),
        ("--port 70000", "Invalid value for '--port'"),
    ],
)
def test_emulate_refuses_invalid_arguments_with_a_remedy(
    tmp_path: Path, words: str, message: str
) -> None:
    (tmp_path / "faults.toml").write_text('[[fault]]\nerror = "QUOTA"\n')
    (tmp_path / "habits.toml").write_text("")

    code, complaint = refused(tmp_path, *words.split())

    assert code == 2
    assert message in complaint
