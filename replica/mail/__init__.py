"""Mail between replicas: what leaves, what is received, delivery reports and settlement (F.4-F.6)."""
