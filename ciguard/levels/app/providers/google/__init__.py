"""Google Cloud: everything that ciguard knows of it; see `spec`."""
