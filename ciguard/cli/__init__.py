"""The `ciguard` command: one module per subcommand; arguments in, exit code out, no logic.

A command imports the rooms it needs when it runs, so that `ciguard --help` answers at once.
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
        arguments: without the program's name; None means those of this process.
    """
    try:
        # The options of commands are made here, also from settings of other packages' levels.
        from ciguard.cli.commands import main as run_command
    except CiguardError as error:
        sys.stderr.write(f"ciguard: error: {error}\n")
        return error.exit_code
    return run_command(arguments)
