"""The adapter that the conformance runner drives this implementation through (section 12.4.7)."""
