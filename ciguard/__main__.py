"""`python -m ciguard`."""

from __future__ import annotations

import sys

from ciguard.cli import main

if __name__ == "__main__":
    sys.exit(main())
