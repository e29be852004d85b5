"""Python sources of others: read, their names resolved, changed without touching anything else.

`parsing` reads a text as a tree, `imports` says what import statements bind, `scopes` what a name
means where it stands, `uses` what a module uses, `projects` where names come from that modules
take from each other, `editing` changes a file as it is written, `diffs` shows a change,
`notebooks` reads the code of notebooks. Nothing is imported or run.
"""

from ciguard.sources.diffs import diff_of, git_lines, path_of, source_lines
from ciguard.sources.editing import Place, Source, has_meaning, opening, place_of, read_source
from ciguard.sources.imports import EVERYTHING, Import, Imports, imports_by, imports_in, imports_of
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
from ciguard.sources.scopes import Function, bound_by, bound_in, may_change, own_nodes, parameters
from ciguard.sources.uses import Definition, ModuleUses, Use, read_module

__all__ = [
    "EVERYTHING",
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
    "bound_by",
    "bound_in",
    "chain",
    "code_of_notebook",
    "diff_of",
    "dotted_name",
    "files_below",
    "git_lines",
    "has_meaning",
    "import_root",
    "imports_by",
    "imports_in",
    "imports_of",
    "may_change",
    "module_name",
    "opening",
    "own_nodes",
    "parameters",
    "parse",
    "parse_expression",
    "parse_file",
    "path_of",
    "place_of",
    "read_module",
    "read_source",
    "source_lines",
]
