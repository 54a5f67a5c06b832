"""Tables and pictures of runs, and one page of them all."""
