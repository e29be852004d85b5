"""The `ciguard` command: one module per subcommand, without logic of its own.

A command imports the packages it needs when it runs, so that `ciguard --help` responds at once.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ciguard.errors import CiguardError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: the arguments without the program's name; None for those of this process.
    """
    try:
        # This import creates the options, including those of settings from plugins.
        from ciguard.cli.commands import main as run_command
    except CiguardError as error:
        sys.stderr.write(f"ciguard: error: {error}\n")
        return error.exit_code
    return run_command(arguments)
