"""Node and the packages of GitHub's own tools, installed on first use from the lock file."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from filelock import FileLock

FOLDER = Path(__file__).parents[1] / "actions"
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_STATUS = re.compile(r"\b(always|success|failure|cancelled)\s*\(\s*\)")
_BESIDE_US = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"


def node(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run node in the folder of the packages, and return what came of it."""
    return subprocess.run(
        node_words(*words),
        cwd=FOLDER,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        **options,
    )


def node_words(*words: str | Path) -> list[str]:
    """Return the command that runs node with GitHub's packages."""
    _install()
    hook = (FOLDER / "json_imports.mjs").as_uri()
    return [_program("node"), "--import", hook, *map(str, words)]


def _program(name: str) -> str:
    path = shutil.which(name, path=_BESIDE_US)
    assert path, f"no {name}: the dependency group dev brings it"
    return path


def _install() -> None:
    """Bring the packages to the state of the lock file; processes that need them wait for one."""
    wanted = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()
    stamp = FOLDER / "node_modules" / ".installed"
    with FileLock(FOLDER / ".installing.lock"):
        if stamp.is_file() and stamp.read_text("utf-8") == wanted:
            return
        environment = {**os.environ, "PATH": _BESIDE_US}
        subprocess.run(
            [_program("npm"), "ci", "--silent"],
            cwd=FOLDER,
            env=environment,
            check=True,
            timeout=300,
        )
        stamp.write_text(wanted, "utf-8")


class Expressions:
    """GitHub's expression engine, in a process that lives as long as the `with` block."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            node_words(FOLDER / "evaluate.mjs"),
            cwd=FOLDER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def evaluate(
        self, expression: str, contexts: dict[str, Any], *, status: str = "success"
    ) -> dict[str, Any]:
        """Return the value of an expression, as text and as a condition."""
        assert self._process.stdin
        assert self._process.stdout
        request = {"expression": expression, "contexts": contexts, "status": status}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert "error" not in answer, f"{expression}: {answer['error']}"
        return answer

    def text(self, template: str, contexts: dict[str, Any], *, status: str = "success") -> str:
        """Return a text with the expressions in it evaluated."""
        return _EXPRESSION.sub(
            lambda found: str(self.evaluate(found[1].strip(), contexts, status=status)["text"]),
            template,
        )

    def value(self, template: str, contexts: dict[str, Any]) -> Any:
        """Return what a text stands for: if it is one expression only, its value."""
        if found := _EXPRESSION.fullmatch(template):
            return json.loads(self.evaluate(f"toJSON({found[1]})", contexts)["text"])
        return self.text(template, contexts)

    def holds(self, condition: str, contexts: dict[str, Any], *, status: str) -> bool:
        """Tell whether an `if` holds, which means success unless it says otherwise."""
        condition = condition.strip().removeprefix("${{").removesuffix("}}").strip()
        if not _STATUS.search(condition):
            condition = f"success() && ({condition})"
        return bool(self.evaluate(condition, contexts, status=status)["truthy"])
