"""The DMP host core: messages, deliveries, mailboxes, questions and answers (sections 3-7, 9, 10).

The rules are functions on values: an address parses, an input validates, recipients resolve, a delivery
gets its first state. `engine.Engine` applies them in the order of section 4.5 inside one transaction of
`store.Store`, and runs the host's hooks only after it has committed, so the store is the outbox of
section 6.3. What a host decides stands behind `host.Host`; what a replica of a team adds stands behind
`federation.Federation`. A host with no teammates needs nothing else.
"""
