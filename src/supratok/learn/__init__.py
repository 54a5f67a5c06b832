"""The passes of training (Figure 1, lines 2-8): each takes tokens and returns tokens. May import:
tokenizer, corpus, recipe, common."""
