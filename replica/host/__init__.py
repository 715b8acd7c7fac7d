"""The host a person runs: work items, sessions and agents, and what is done for them (sections 2.1, C).

`person` answers the core's questions from the registers that `items`, `sessions` and `agents` write, `config`
reads what the person set, and `programs` runs what they named there. `documents` and `memory` are what a person and
their programs write there, each with its helpers (`doc_*`, `memory_*`); `raising` asks the person by a gate, and
`effects` applies what they answered.
"""
