"""SentencePiece's `tokenizer.model`: read, write, run."""
