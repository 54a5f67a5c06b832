"""What the paper claims about compression, as programs for any corpus."""
