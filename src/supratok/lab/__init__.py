"""What the paper claims about compression and models, as programs for any corpus."""
