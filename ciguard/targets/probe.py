"""Looks at an environment from inside. Runs as a script in the target's interpreter.

Python 3.9 and later, standard library only. Usage: `python probe.py REQUEST`, where REQUEST is
JSON: `out` (file for the answer), `imports` (modules to import), `finds` (modules to look for).
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
from typing import Any, Dict, List, Optional  # noqa: UP035 - Python 3.9 in the target


def origin(module: str) -> Optional[str]:  # noqa: UP045 - Python 3.9 in the target
    """Return the file or folder that a module would come from, None if there is no such module."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # the package that it would be in
        return None
    if spec is None:
        return None
    if spec.origin and os.path.exists(spec.origin):  # noqa: PTH110 - fast start
        return spec.origin
    places = list(spec.submodule_search_locations or ())
    return places[0] if places else None


def installed() -> Dict[str, str]:  # noqa: UP006 - Python 3.9 in the target
    """Return the version of every installed distribution by name."""
    found: Dict[str, str] = {}  # noqa: UP006 - Python 3.9 in the target
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            # The first one on the path is the one that is imported.
            found.setdefault(name, distribution.version)
    return found


def look(imports: List[str], finds: List[str]) -> Dict[str, Any]:  # noqa: UP006 - as above
    """Import and find modules; return what this interpreter is and holds."""
    versions = {}
    for name in imports:
        module = importlib.import_module(name)
        versions[name] = str(getattr(module, "__version__", ""))
    return {
        "python_version": platform.python_version(),
        "implementation": sys.implementation.name,
        "executable": sys.executable,
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "path": [entry for entry in sys.path if entry],
        "versions": versions,
        "origins": {name: origin(name) for name in [*imports, *finds]},
        "packages": installed(),
    }


def main() -> None:
    """Answer the request given as the first argument."""
    # The folder of this script stands first on the path and would shadow modules.
    del sys.path[0]
    request = json.loads(sys.argv[1])
    answer = look(request["imports"], request["finds"])
    with open(request["out"], "w", encoding="utf-8") as stream:  # noqa: PTH123 - fast start
        json.dump(answer, stream)


if __name__ == "__main__":
    main()
