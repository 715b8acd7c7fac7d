"""The binding of the Agent Mailbox instance routing, an A2A extension of another origin."""
