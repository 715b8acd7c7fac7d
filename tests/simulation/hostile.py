"""Acts of hostile replicas and branch writers: what they may do with their own keys and what they can reach.

Each adds the replica that broke the rules to `stage.dishonest`: nothing is promised to it, nor about what it says.
"""
