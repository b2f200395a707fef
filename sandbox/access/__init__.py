"""Who may do what: people, their rights and limits, and who follows a lesson."""
