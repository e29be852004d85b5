"""Azure: everything that ciguard knows of it; see `spec`."""
