"""One campaign in several parts: shards on a cluster, what each leaves, and their merge."""
