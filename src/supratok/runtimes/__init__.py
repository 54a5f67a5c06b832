"""Our encoder inside other programs' tokenizers. May import: tokenizer, recipe, common."""
