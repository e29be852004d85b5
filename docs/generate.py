# ruff: noqa: INP001 - a script, not a module
"""Write into pages what they quote from the program: `make pages`. A test fails on drift."""

from __future__ import annotations

import json
import re
import runpy
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import yaml
from click.testing import CliRunner

from ciguard.cli.commands import ciguard
from ciguard.config import SETTINGS
from ciguard.execution.worker.attempts import ATTEMPTS
from ciguard.execution.worker.landlock import DEVICE_PATHS, GPU_PATHS, SYSTEM_PATHS, ZEROS
from ciguard.execution.worker.quota import (
    MAX_BYTES,
    MAX_COMPILED,
    MAX_COMPILED_BYTES,
    MAX_FILES,
    MAX_THREADS,
)
from ciguard.execution.worker.syscalls import EVERYWHERE, ProcessRole, bound_calls, plain_calls
from ciguard.oracles.relations import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ciguard.execution.worker.syscalls import When

ROOT = Path(__file__).parent.parent
RELATIONS_PAGE = Path(__file__).parent / "relations.md"
ACTION_PAGE = Path(__file__).parent / "action.md"
ACTION = ROOT / "action.yml"
SECURITY_PAGE = Path(__file__).parent / "security.md"
PRECISION_PAGE = Path(__file__).parent / "precision.md"
BENCHMARKS_PAGE = Path(__file__).parent / "benchmarks.md"
KNOWLEDGE_PAGE = Path(__file__).parent / "knowledge.md"
JUDGED = Path(__file__).parent / "precision" / "judged.jsonl"
PICTURE = Path(__file__).parent / "images" / "architecture.svg"
COMMANDS_PAGE = Path(__file__).parent / "commands.md"
SETTINGS_PAGE = Path(__file__).parent / "settings.md"
PAGES = (
    COMMANDS_PAGE,
    SETTINGS_PAGE,
    RELATIONS_PAGE,
    ACTION_PAGE,
    SECURITY_PAGE,
    PRECISION_PAGE,
    BENCHMARKS_PAGE,
    KNOWLEDGE_PAGE,
)
TABLES = re.compile(r"<!-- generated: (\S+\.jsonl) -->")


def help_section() -> str:
    """Return the help of every command that is not hidden."""
    return "\n\n".join(_help_blocks(ciguard, ()))


def _help_blocks(command: click.Command, path: tuple[str, ...]) -> Iterator[str]:
    words = " ".join(("ciguard", *path))
    shown = CliRunner().invoke(ciguard, [*path, "--help"], prog_name="ciguard", terminal_width=96)
    heading = f"{'###' if path[1:] else '##'} `{words}`"
    yield f"{heading}\n\n```console\n$ {words} --help\n{shown.stdout.rstrip()}\n```"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in sorted(command.list_commands(context)):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _help_blocks(inner, (*path, name))


def settings_section() -> str:
    """Return the table of all settings."""
    rows = [
        "| key | flag | variable | default | meaning |",
        "| --- | --- | --- | --- | --- |",
    ]
    for setting in SETTINGS.values():
        key = f"`{setting.key}`" if setting.in_files else ""
        default = setting.kind.show(setting.default)
        shown = f"`{default}`" if default else ""
        rows.append(
            f"| {key} | `{setting.flag}` | `{setting.variable}` | {shown} | {setting.help} |"
        )
    return "\n".join(rows)


def relations_section() -> str:
    """Return the table of all metamorphic relations."""
    rows = ["| relation | invariant | source | checked |", "| --- | --- | --- | --- |"]
    for name, relation in sorted(RELATIONS.items().items()):
        turns = "every turn" if relation.every == 1 else f"every {relation.every} turns"
        if relation.weight > 1:
            turns += f", {relation.weight} times as often"
        rows.append(f"| {name} | {relation.law} | {relation.source} | {turns} |")
    return "\n".join(rows)


def inputs_section() -> str:
    """Return the table of the action's inputs."""
    rows = ["| input | default | meaning |", "| --- | --- | --- |"]
    for name, known in yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"].items():
        default = f"`{known['default']}`" if known["default"] else ""
        rows.append(f"| `{name}` | {default} | {known['description']} |")
    return "\n".join(rows)


def outputs_section() -> str:
    """Return the table of the action's outputs."""
    rows = ["| output | meaning |", "| --- | --- |"]
    for name, known in yaml.safe_load(ACTION.read_text(encoding="utf-8"))["outputs"].items():
        rows.append(f"| `{name}` | {known['description']} |")
    return "\n".join(rows)


def syscalls_section() -> str:
    """Return the table of the system calls that a confined process may make."""
    worker = ProcessRole(truncates=True)
    rows = ["| system calls | allowed to a worker |", "| --- | --- |"]
    rows += [f"| {_code(names)} | {group} |" for group, names in EVERYWHERE.items()]
    rows.append("| `truncate` | if Landlock, from version 3 on, restricts the file |")
    rows += _bound_rows(worker, known={})
    for title, role in _ROLES.items():
        more = [name for name in plain_calls(role) if name not in plain_calls(worker)]
        rows.append(f"| {_code(more)} | {title} |")
        rows += _bound_rows(role, known=bound_calls(worker), title=f"{title}: ")
    rows.append("| all others | not allowed: `EPERM`, or `ENOSYS` for numbers from 424 on |")
    return "\n".join(rows)


def _bound_rows(
    role: ProcessRole, *, known: Mapping[str, tuple[When, ...]], title: str = ""
) -> list[str]:
    """Return a row for each condition of a role that is not known, with the calls it binds."""
    names: dict[str, list[str]] = {}
    for name, whens in bound_calls(role).items():
        if whens != known.get(name):
            names.setdefault(", and ".join(when.qualified_name for when in whens), []).append(name)
    return [f"| {_code(bound)} | {title}{meaning} |" for meaning, bound in names.items()]


_ROLES = {
    "where cases may start processes": ProcessRole(processes=True, truncates=True),
    "while the library is imported": ProcessRole(imports=True, truncates=True),
    "on a GPU": ProcessRole(devices=True, truncates=True),
    "to an application": ProcessRole(loopback=True, truncates=True),
}


def paths_section() -> str:
    """Return the table of the files that a confined process reaches, and of its quota."""
    mib, compiled_mib = MAX_BYTES // 2**20, MAX_COMPILED_BYTES // 2**20
    own = "environment of its target, adapter, ciguard's package, what the configuration names"
    kept = "what the library compiles and keeps; `/dev/shm` where cases may start processes"
    compiled = "what workers of one target compile for each other (JAX; torch with `compile`)"
    rows = {
        _code((*SYSTEM_PATHS, ZEROS)): "read, execute",
        own: "read, execute",
        _code(DEVICE_PATHS): "read, write",
        _code(GPU_PATHS): "read, write, on a GPU only",
        "its own folder": f"everything, up to {MAX_FILES:,} files and {mib} MiB",
        kept: "everything",
        compiled: f"everything, emptied beyond {MAX_COMPILED:,} files or {compiled_mib:,} MiB",
        "threads, with those of all that it has started": f"{MAX_THREADS:,}",
    }
    heading = ["| paths | what a worker may do |", "| --- | --- |"]
    return "\n".join([*heading, *(f"| {path} | {rights} |" for path, rights in rows.items())])


def attempts_section() -> str:
    """Return the table of what is tried before a run, to see that it is refused."""
    rows = ["| name | a worker cannot |", "| --- | --- |"]
    rows += [f"| `{attempt.name}` | {attempt.attack} |" for attempt in ATTEMPTS]
    return "\n".join(rows)


def judged_section() -> str:
    """Return how many findings of each oracle were true, of the campaigns that were judged."""
    counts: Counter[tuple[str, int, bool]] = Counter()
    for line in JUDGED.read_text(encoding="utf-8").splitlines():
        judged = json.loads(line)
        is_true = judged["verdict"] == "true"
        for row in (judged["campaign"], judged["oracle"], "all"):
            counts[row, judged["round"], is_true] += 1
    campaigns = ("torch", "tensorflow", "keras", "jax", "jittor")
    oracles = sorted({row for row, *_ in counts} - {*campaigns, "all"})
    rounds = sorted({number for _, number, _ in counts})
    titles = "".join(f" round {number} | |" for number in rounds)
    heading = [f"| true of judged |{titles}", f"| --- |{' ---: | ---: |' * len(rounds)}"]
    rows = (_judged_row(row, counts, rounds) for row in (*campaigns, *oracles, "all"))
    return "\n".join((*heading, *rows))


def _judged_row(row: str, counts: Counter[tuple[str, int, bool]], rounds: Sequence[int]) -> str:
    cells = [row]
    for number in rounds:
        true, false = counts[row, number, True], counts[row, number, False]
        judged = true + false
        cells += [f"{true} of {judged}", f"{true / judged:.0%}"] if judged else ["none", ""]
    return f"| {' | '.join(cells)} |"


def table_of(path: Path) -> str:
    """Return the table of a file of results: a row per line, a column per key of the first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    # Numbers are shown as they were written: 0.980 is measured to three digits.
    rows = [json.loads(line, parse_float=Figure, parse_int=Figure) for line in lines]
    heading = list(rows[0])
    numeric = [all(isinstance(row[key], Figure | None) for row in rows) for key in heading]
    marks = ["---:" if is_numeric else "---" for is_numeric in numeric]
    cells = [[row[key] or "" for key in heading] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heading, marks, *cells))


class Figure(str):
    """A number as it is written."""

    __slots__ = ()


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def with_sections(text: str) -> str:
    """Return `text` with every generated section as it should be."""
    sections: dict[str, Callable[[], str]] = {
        "help": help_section,
        "settings": settings_section,
        "relations": relations_section,
        "inputs": inputs_section,
        "outputs": outputs_section,
        "syscalls": syscalls_section,
        "paths": paths_section,
        "attempts": attempts_section,
        "judged": judged_section,
        **{path: partial(table_of, ROOT / path) for path in TABLES.findall(text)},
    }
    for name, section_of in sections.items():
        if f"<!-- generated: {name} -->" not in text:
            continue
        section = section_of()
        pattern = rf"(<!-- generated: {re.escape(name)} -->\n).*?(<!-- end -->)"
        text = re.sub(
            pattern,
            lambda match, section=section: f"{match[1]}\n{section}\n\n{match[2]}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
    return text


def pages() -> dict[Path, str]:
    """Return every page and picture that quotes the program, as it should be."""
    texts = {page: with_sections(page.read_text(encoding="utf-8")) for page in PAGES}
    picture = runpy.run_path(str(Path(__file__).with_name("picture.py")))
    return {**texts, PICTURE: picture["architecture"]()}


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
