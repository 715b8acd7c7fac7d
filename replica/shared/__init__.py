"""Shared state: work items, agents, channels and presence, folded from everyone's clear ops (Appendix F)."""
