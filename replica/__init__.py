"""The node: where mail and ops meet. Homes, speaks-for, publishing, receiving, settlement, sync, CLI."""
