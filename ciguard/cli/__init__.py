"""The `ciguard` command: one module per subcommand; arguments in, exit code out, no logic.

A command imports the rooms it needs when it runs, so that `ciguard --help` answers at once.
"""

from ciguard.cli.main import main

__all__ = ["main"]
