"""The page of a report: one file of HTML that needs nothing else."""
