"""Every setting of ciguard, described once; file, environment and flags meet here.

`Config` holds the values, `SETTINGS` what is known of each, `load_config` brings
the sources together. Only `domain` and `errors` may be imported: settings know no room.
"""

from ciguard.config.load import PREFIX, Effective, Flags, Source, SourceKind, load_config
from ciguard.config.locations import (
    GitBranch,
    Location,
    location_text,
    parse_location,
)
from ciguard.config.quantities import duration_text, parse_duration, parse_size, size_text
from ciguard.config.settings import (
    CONFINE_ALWAYS,
    CONFINE_WHERE_POSSIBLE,
    DEFAULT_TARGETS,
    SETTINGS,
    Config,
    Setting,
)

__all__ = [
    "CONFINE_ALWAYS",
    "CONFINE_WHERE_POSSIBLE",
    "DEFAULT_TARGETS",
    "PREFIX",
    "SETTINGS",
    "Config",
    "Effective",
    "Flags",
    "GitBranch",
    "Location",
    "Setting",
    "Source",
    "SourceKind",
    "duration_text",
    "load_config",
    "location_text",
    "parse_duration",
    "parse_location",
    "parse_size",
    "size_text",
]
