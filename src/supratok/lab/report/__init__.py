"""Tables and pictures of runs, and a page of them."""
