"""What the page shows: rows, diffs between pages, the live protocol's messages."""
