"""Controllers of what is made in virtual time: the Jobs of CronJobs."""
