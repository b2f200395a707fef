"""What happens to things in time: arrivals, starts, run time, endings, lost nodes."""
