"""Node and the packages of GitHub's own tools, as `make test-tools` installs them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

FOLDER = Path(__file__).parents[1] / "actions"
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_STATUS = re.compile(r"\b(always|success|failure|cancelled)\s*\(\s*\)")
_NODE = Path(sys.executable).with_name("node")


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
    assert (FOLDER / "node_modules").is_dir(), "run `make test-tools`"
    hook = (FOLDER / "json_imports.mjs").as_uri()
    return [str(_NODE), "--import", hook, *map(str, words)]


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
        """Return whether an `if` holds, which means success unless it says otherwise."""
        condition = condition.strip().removeprefix("${{").removesuffix("}}").strip()
        if not _STATUS.search(condition):
            condition = f"success() && ({condition})"
        return bool(self.evaluate(condition, contexts, status=status)["truthy"])
