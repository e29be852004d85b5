"""Wheels of the planted library, patched: the builds that a pull request's jobs make of it."""

from __future__ import annotations

import zipfile
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "planted"
_NAME = "ciguard_planted"
_STATED = 'os.environ.get("PLANTED_VERSION", "1.0")'


def planted_wheel(folder: Path, version: str, *, checked: str, is_release: bool = False) -> Path:
    """Write a wheel whose `checked(n)` has another body; a release knows its own version too."""
    path = folder / f"{_NAME}-{version}-py3-none-any.whl"
    info = f"{_NAME}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: ciguard-planted\nVersion: {version}\n"
    files = {
        f"{info}/METADATA": f"{metadata}Requires-Dist: numpy\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    for module in sorted((SOURCES / "planted").glob("*.py")):
        text = _patched(module.read_text("utf-8"), checked)
        files[f"planted/{module.name}"] = (
            text.replace(_STATED, repr(version)) if is_release else text
        )
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


def _patched(text: str, checked: str) -> str:
    begin, mark, rest = text.partition("def checked(n: int) -> int:\n")
    if not mark:
        return text
    _, _, after = rest.partition("\n\n\n")
    body = "".join(f"    {line}\n" for line in checked.splitlines())
    return f'{begin}{mark}    """Return `n`."""\n{body}\n\n{after}'
