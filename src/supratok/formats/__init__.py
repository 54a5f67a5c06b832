"""Other programs' tokenizers: read, write, run, verify. May import: tokenizer and below."""
