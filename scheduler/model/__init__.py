"""The typed inputs of the engine: what the documents say, parsed once."""
