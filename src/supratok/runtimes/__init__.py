"""Other programs run our tokenizers: our encoder inside theirs, and their models over our tokens,
exact at the ends of texts. May import: tokenizer, recipe, common."""
