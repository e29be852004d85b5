"""All that ciguard knows of the library `planted_tiles`: the example of `docs/extending.md`."""
