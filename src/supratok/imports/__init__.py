"""Tokenizers from elsewhere, read exactly or not at all: one file a format.

    Tokenizer.from_huggingface("llama/tokenizer.json")
    Tokenizer.from_sentencepiece("llama/tokenizer.model")

They keep their ids. Where such a tokenizer reads a literal U+2581 as a space, ours does not,
because that loses text: this is the one difference. Whatever else would differ is refused, with the
reason.
"""
