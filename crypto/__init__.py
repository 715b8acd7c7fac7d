"""What an op is made of and whose it is: canonical JSON, keys, signatures, seals, clocks, chains, roster."""
