"""Other programs that read a tokenizer, behind one shape: texts to ids and back."""
