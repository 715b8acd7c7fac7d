"""Who is in the team, as this replica knows it: foundings, claims, the folded roster."""
