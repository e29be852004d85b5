"""All settings of ciguard: their descriptions, and their values from file, environment and flags.

`Config` holds the values, `SETTINGS` holds the descriptions, and `load_config` merges the sources.
The package of a level declares the level's settings in its `settings.py`.
"""

from ciguard.config.catalogue import SETTINGS
from ciguard.config.github_access import (
    API_VARIABLE,
    PUBLIC_API,
    PUBLIC_SERVER,
    SERVER_VARIABLE,
    TOKEN_VARIABLES,
    github_token,
    require_encryption,
)
from ciguard.config.levels import LEVEL_SETTINGS, OWN_LEVELS, LevelCommands, LevelSettings
from ciguard.config.load import (
    PREFIX,
    EffectiveSettings,
    Flags,
    SettingSource,
    SourceKind,
    load_config,
)
from ciguard.config.locations import (
    GitBranch,
    Location,
    location_text,
    parse_location,
)
from ciguard.config.quantities import duration_text, parse_duration, parse_size, size_text
from ciguard.config.setting import Setting, level_setting
from ciguard.config.settings import (
    CONFINE_ALWAYS,
    CONFINE_NEVER,
    CONFINE_WHERE_POSSIBLE,
    COUNT_ALWAYS,
    COUNT_NEVER,
    DEFAULT_TARGETS,
    Config,
)

__all__ = [
    "API_VARIABLE",
    "CONFINE_ALWAYS",
    "CONFINE_NEVER",
    "CONFINE_WHERE_POSSIBLE",
    "COUNT_ALWAYS",
    "COUNT_NEVER",
    "DEFAULT_TARGETS",
    "LEVEL_SETTINGS",
    "OWN_LEVELS",
    "PREFIX",
    "PUBLIC_API",
    "PUBLIC_SERVER",
    "SERVER_VARIABLE",
    "SETTINGS",
    "TOKEN_VARIABLES",
    "Config",
    "EffectiveSettings",
    "Flags",
    "GitBranch",
    "LevelCommands",
    "LevelSettings",
    "Location",
    "Setting",
    "SettingSource",
    "SourceKind",
    "duration_text",
    "github_token",
    "level_setting",
    "load_config",
    "location_text",
    "parse_duration",
    "parse_location",
    "parse_size",
    "require_encryption",
    "size_text",
]
