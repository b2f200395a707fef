"""`quotalab mcp`: a server's answers for assistants, over the Model Context Protocol."""
