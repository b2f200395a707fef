"""An answer to read: a table on the screen, Markdown, one HTML file."""
