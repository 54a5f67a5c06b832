"""What a browser shows: the playground, and pages that stand alone. May import: formats, tokenizer,
recipe, common."""
