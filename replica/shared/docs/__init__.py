"""Team documents: revisions that form a graph, and what is said of a document beside them (F.7; wire 8.E)."""
