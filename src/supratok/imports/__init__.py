"""Tokenizers from elsewhere, read exactly or not at all: one file a format.

    Tokenizer.from_huggingface("llama/tokenizer.json")
    Tokenizer.from_sentencepiece("llama/tokenizer.model")

They keep their ids. Ids differ only where such a tokenizer loses text, because here none is lost:
it reads a literal U+2581 as a space, and with Hugging Face's Metaspace "a" and " a" are the same.
The report of an imported tokenizer says so. Whatever else would differ is refused, with the reason.
"""
