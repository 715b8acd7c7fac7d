"""Ops in and out: signing one's own chain, guarding it, publishing it, and applying teammates' chains."""
