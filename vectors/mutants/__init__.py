"""Small faults, each of which a vector of the project's own must catch, or a simulated team, or a test.

A fault is one place in one file, changed as somebody might get it wrong; the file of its package has it, such as
`core.json`, with what catches it. `plant` runs the conformance adapter or another program with one fault in the source
that it imports, so nothing is ever written; `catching` runs vectors, simulated teams and tests on it. `make mutants`
runs them on every fault and records what caught it; the tests run what is recorded.
"""
