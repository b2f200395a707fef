"""Loading: what came of a text, which kind a document is of, where it goes."""
