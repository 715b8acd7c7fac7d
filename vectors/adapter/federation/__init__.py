"""The steps of the class `federation`, on this implementation; `docs/vectors.md` says what each step is."""
