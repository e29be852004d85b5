"""The command group, which turns errors into messages and exit codes."""

from __future__ import annotations

import contextlib
import io
import os
import platform
import sys
import sysconfig
import traceback
from copy import copy
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from ciguard import __version__
from ciguard.cli.accept import accept
from ciguard.cli.action import action
from ciguard.cli.baseline import baseline
from ciguard.cli.bisect import bisect
from ciguard.cli.cluster import cluster
from ciguard.cli.config import config
from ciguard.cli.doctor import doctor
from ciguard.cli.explain import explain
from ciguard.cli.export import export
from ciguard.cli.extract import extract
from ciguard.cli.init import init
from ciguard.cli.learn import learn
from ciguard.cli.level_commands import LevelGroup, declared_groups
from ciguard.cli.merge import merge
from ciguard.cli.minimize import minimize
from ciguard.cli.options import example
from ciguard.cli.plan import plan
from ciguard.cli.publish import publish
from ciguard.cli.reproduce import reproduce
from ciguard.cli.run import run
from ciguard.cli.session import Session
from ciguard.cli.show import show
from ciguard.cli.suggest import suggest
from ciguard.cli.targets import targets
from ciguard.cli.version import version
from ciguard.config import OWN_LEVELS
from ciguard.errors import CiguardError, ExitCode, PlatformError, RegistrationError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERNAL_ERROR_FILE = "internal-error.txt"
SIGPIPE_EXIT = 141
"""Exit code of a program that wrote to a closed pipe, as in `ciguard show | head`."""


class _Group(click.Group):
    """The main group, which gives a closed pipe an exit code other than click's.

    Click exits with 1 for a closed pipe, but for ciguard 1 means new findings.
    """

    def invoke(self, ctx: click.Context) -> Any:
        _require_platform()
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Python flushes standard output at exit, which would raise again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(SIGPIPE_EXIT) from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if the name is unknown.

        A level's command is also found without its group, as before commands were grouped.
        """
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        for group in OWN_GROUPS:
            if command := group.get_command(ctx, cmd_name):
                alias = copy(command)
                alias.hidden = True
                return alias
        return None

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click passes it
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands in their sections, each with its short help."""
        for title, commands in SECTIONS.items():
            shown = [command for command in commands if not command.hidden]
            width = formatter.width - max(len(command.name or "") for command in shown) - 6
            rows = [(command.name or "", command.get_short_help_str(width)) for command in shown]
            with formatter.section(title):
                formatter.write_dl(rows)


def _require_platform() -> None:
    system = platform.system()
    if system != "Linux":
        advice = {"Windows": "run it in WSL 2", "Darwin": "run it in a Linux container"}
        remedy = advice.get(system, "use another machine")
        msg = f"ciguard needs Linux, but this machine runs {system}: {remedy}."
        raise PlatformError(msg)
    if "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
        msg = (
            "this Python is built for musl, for which deep-learning libraries have no builds. "
            "Use a distribution with glibc, such as Debian."
        )
        raise PlatformError(msg)


@click.group(
    cls=_Group,
    epilog=example("ciguard run --target torch==2.12.0 --target torch==2.13.0 --budget 10m")
    + "\n\nExit codes: 0 nothing new, 1 new findings, 2 wrong usage or environment, "
    "3 not run, or ciguard itself failed, 130 interrupted.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="ciguard %(version)s")
def ciguard() -> None:
    """Guard a deep-learning library against regressions.

    Fuzzes real calls on several targets for a fixed time, and reports the defects that are not in
    the baseline.
    """


LEVEL_GROUPS = (
    LevelGroup("api", "Constraints of APIs.", explain, extract, learn),
    LevelGroup("function", "Annotated functions.", suggest, export),
    *declared_groups(),
)
OWN_GROUPS = tuple(group for group in LEVEL_GROUPS if group.name in OWN_LEVELS)
SECTIONS: dict[str, tuple[click.Command, ...]] = {
    "Run": (run, plan, merge, cluster),
    "Results": (show, reproduce, minimize, bisect, accept, publish),
    "Setup and maintenance": (baseline, targets, config, doctor, init),
    "Levels": LEVEL_GROUPS,
    "Other": (action, version),
}
"""Commands by section of the help."""


def _assemble() -> None:
    for command in chain.from_iterable(SECTIONS.values()):
        if command.name in ciguard.commands:
            msg = (
                f"level {command.name!r} declares commands, but ciguard already has a "
                "command with this name. Rename the level."
            )
            raise RegistrationError(msg)
        ciguard.add_command(command)


_assemble()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: the arguments without the program's name; None for those of this process.
    """
    for stream in (sys.stdout, sys.stderr):
        # Escape characters that the console cannot encode, so that no report is lost.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    session = Session()
    try:
        exit_code = ciguard.main(
            args=None if arguments is None else list(arguments),
            prog_name="ciguard",
            standalone_mode=False,
            obj=session,
        )
    except click.ClickException as error:
        _report_error(_usage_message(error))
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        _report_error("interrupted")
        return ExitCode.INTERRUPTED
    except CiguardError as error:
        _report_error(str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - a defect of ciguard ends here, as exit code 3
        _report_error(f"{type(error).__name__}: {error}\n{_keep_traceback(session)}")
        return ExitCode.INTERNAL
    return int(exit_code or 0)


def _report_error(message: str) -> None:
    # A closed pipe must not hide the exit code.
    with contextlib.suppress(BrokenPipeError):
        click.echo(f"ciguard: error: {message}", err=True)


def _usage_message(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"\nTry '{context.command_path} --help'." if context else ""
    return error.format_message() + hint


def _keep_traceback(session: Session) -> str:
    """Write the current exception's traceback to a file; return a message that names the file."""
    text = f"ciguard {__version__}\n{traceback.format_exc()}"
    path = session.folder / INTERNAL_ERROR_FILE
    try:
        session.folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return f"This is a defect of ciguard. Please report it with this traceback:\n{text}"
    return f"This is a defect of ciguard. Please report it with the traceback in {path}."
