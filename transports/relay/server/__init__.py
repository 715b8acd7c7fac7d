"""The relay's side: rules without I/O (`relay`, `team`, `session`, `publication`), a store, and a shell around them."""
