"""Teams of replicas in one process, driven by one seed: whatever network, clocks and crashes do, nothing is lost,
doubled or leaked.

`acts` draws what a seed does, as plain values; `stage` performs it; `checks` judges what came of it; `shrink` finds
a short script that fails as a long one did; `python -m tests.simulation` runs many seeds.
"""
