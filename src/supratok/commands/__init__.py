"""Commands of `supratok` that have a file of their own."""
