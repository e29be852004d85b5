"""Users' Python sources: parsing, name resolution, and edits that keep all other text.

`parsing` parses source text, `imports` evaluates import statements and `scopes` resolves names.
`uses` finds the APIs that a module uses, `projects` follows names through modules. `editing`
changes files, `diffs` formats changes, `notebooks` reads notebooks. The sources are never run.
"""

from ciguard.sources.diffs import diff_of, git_lines, source_lines, unquoted_path
from ciguard.sources.editing import Place, Source, is_valid_python, opening, place_of, read_source
from ciguard.sources.imports import ALL_NAMES, Import, Imports, imports_by, imports_in, imports_of
from ciguard.sources.names import chain, dotted_name
from ciguard.sources.notebooks import CodeText, code_of_notebook
from ciguard.sources.parsing import (
    MAX_BYTES,
    UnreadableSourceError,
    parse,
    parse_expression,
    parse_file,
)
from ciguard.sources.projects import Project, files_below, import_root, module_name
from ciguard.sources.scopes import (
    Function,
    names_bound_by,
    names_bound_in,
    names_changed_by,
    parameters,
    scope_nodes,
)
from ciguard.sources.uses import Definition, ModuleUses, Use, read_module

__all__ = [
    "ALL_NAMES",
    "MAX_BYTES",
    "CodeText",
    "Definition",
    "Function",
    "Import",
    "Imports",
    "ModuleUses",
    "Place",
    "Project",
    "Source",
    "UnreadableSourceError",
    "Use",
    "chain",
    "code_of_notebook",
    "diff_of",
    "dotted_name",
    "files_below",
    "git_lines",
    "import_root",
    "imports_by",
    "imports_in",
    "imports_of",
    "is_valid_python",
    "module_name",
    "names_bound_by",
    "names_bound_in",
    "names_changed_by",
    "opening",
    "parameters",
    "parse",
    "parse_expression",
    "parse_file",
    "place_of",
    "read_module",
    "read_source",
    "scope_nodes",
    "source_lines",
    "unquoted_path",
]
