"""Twenty annotated functions, and what rivals of ciguard are told of them."""
