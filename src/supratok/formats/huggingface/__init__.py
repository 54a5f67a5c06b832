"""Hugging Face: `tokenizer.json` and the folder around it."""
