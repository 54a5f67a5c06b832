"""The tokenizer inside a GGUF file: write it, and run it with llama.cpp."""
