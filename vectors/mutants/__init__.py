"""Small faults, each of which a vector of the project's own must catch.

A fault is one place in one file, changed as somebody might get it wrong; `faults.json` has them all,
each with a vector that fails by it. `plant` runs the conformance adapter with one fault in the source that it
imports, so nothing is ever written; `catching` runs vectors on it. `make mutants` runs the whole kit on every
fault and records what caught it; the tests run what is recorded.
"""
