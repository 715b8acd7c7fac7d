"""How fast transports are, measured by throw-away replicas that sign real ops."""
