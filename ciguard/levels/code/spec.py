"""Level `code` as campaigns know it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, ClassVar

from ciguard.campaign import LevelDefaults, digest_of_apis
from ciguard.errors import ConfigurationError
from ciguard.levels import select_layers
from ciguard.levels.code.dialects import LIBRARIES
from ciguard.levels.code.seeding import (
    check_programs,
    code_level,
    refuse_without_library,
    seed_programs,
    trees_for,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from ciguard.campaign import Stream, StreamFactory
    from ciguard.config import Config
    from ciguard.domain import Event


class CodeSpec(LevelDefaults):
    """Model programs cut into blocks, and put together anew (MoCo)."""

    name: ClassVar[str] = "code"

    def check(self, config: Config) -> None:
        """Refuse libraries without programs, and seed programs that there are not."""
        check_programs(config)

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return a stream for each library with seed programs.

        A shard grows trees of seeds of its own.

        Raises:
            ConfigurationError: if programs are written for none of the targets, or none of the
                seeds can be taken apart.
        """
        config = factory.config
        refuse_without_library(factory.groups)
        trees = trees_for(factory.lanes)
        streams = []
        for group in factory.groups.values():
            if group.library not in LIBRARIES or not group.running_eagerly:
                continue
            own = config.shard.part((yield from seed_programs(config, group.library)))
            if not own:
                continue
            texts = "\n".join(program.source for program in own)
            kind = f"{self.name}, {config.mutations} mutations, breadth {config.breadth}, "
            kind += f"{config.encoder}, {trees} trees"  # lessons name them by number
            digest = hashlib.sha256(texts.encode()).hexdigest()
            chosen = select_layers(group.records(), config.api, config.exclude)
            stream = factory.stream(
                code_level(group, config, own, trees=trees),
                group,
                kind=f"{kind}: {digest}",
                chosen=digest_of_apis(chosen),
            )
            stream.is_whole = stream.spares = True
            streams.append(stream)
        if not streams and factory.is_any_running:
            msg = "programs: none of the seed programs can be taken apart; see the warnings above."
            raise ConfigurationError(msg)
        return streams


LEVEL = CodeSpec()
