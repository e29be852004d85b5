"""Description of an environment by a script that runs in the target's interpreter.

Python 3.9 and later, standard library only. Usage: `python probe.py REQUEST`, where REQUEST is
JSON: `out` is the file for the result, and `imports` lists the modules to import. Modules of
`optional` are imported if possible, and those of `to_locate` are located without importing them.
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
    """Return the file or folder from which a module would be imported; None if there is none."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # its parent package is missing
        return None
    if spec is None:
        return None
    if spec.origin and os.path.exists(spec.origin):  # noqa: PTH110 - importing pathlib slows the start
        return spec.origin
    locations = list(spec.submodule_search_locations or ())
    return locations[0] if locations else None


def installed() -> Dict[str, str]:  # noqa: UP006 - Python 3.9 in the target
    """Return the version of every installed distribution, by name."""
    versions: Dict[str, str] = {}  # noqa: UP006 - Python 3.9 in the target
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            # Python imports the first of several distributions on the path.
            versions.setdefault(name, distribution.version)
    return versions


def describe(imports: List[str], to_locate: List[str]) -> Dict[str, Any]:  # noqa: UP006 - Python 3.9 in the target
    """Import the modules of `imports`, locate the others, and describe this interpreter."""
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
        "origins": {name: origin(name) for name in [*imports, *to_locate]},
        "packages": installed(),
    }


def import_optional(names: List[str]) -> None:  # noqa: UP006 - Python 3.9 in the target
    """Import modules, which writes their bytecode; releases differ in which of them they have."""
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - imports run foreign code
            print(f"{name} was not imported: {type(error).__name__}: {error}")  # noqa: T201 - is logged


def main() -> None:
    """Write the description for the request in the first argument."""
    # The folder of this script comes first in `sys.path`, where it would shadow modules.
    del sys.path[0]
    request = json.loads(sys.argv[1])
    description = describe(request["imports"], request["to_locate"])
    import_optional(request["optional"])
    with open(request["out"], "w", encoding="utf-8") as stream:  # noqa: PTH123 - importing pathlib slows the start
        json.dump(description, stream)


if __name__ == "__main__":
    main()
