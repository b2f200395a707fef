"""What each number on the page should be by REST, and what compares the two."""
