"""Small language models over any tokenizer, to find out what its tokens are worth."""
