"""How ops travel between replicas: one interface, and the transports that keep it."""
