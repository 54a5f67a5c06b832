"""SentencePiece: `tokenizer.model`."""
