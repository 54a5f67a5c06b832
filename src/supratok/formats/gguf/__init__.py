"""llama.cpp: the tokenizer inside a GGUF file."""
