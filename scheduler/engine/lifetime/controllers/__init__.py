"""Controllers of what is made in virtual time: Jobs of CronJobs, and pods."""
