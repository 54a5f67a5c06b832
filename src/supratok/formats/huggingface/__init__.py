"""Hugging Face's `tokenizer.json` and the folder around it: read, write, run."""
