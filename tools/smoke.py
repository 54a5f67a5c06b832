"""The least that a wheel must do on any machine: train, save, load, encode, decode."""

import tempfile
from pathlib import Path

import supratok

texts = ["The cat sat in New York.", "New York is as large as the cat, 日本. 🎉"] * 50
for recipe in (supratok.Recipe(vocab_size=310), supratok.Recipe.dense(310)):
    tokenizer = supratok.train(texts, recipe, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(Path(folder) / "t.json")
        again = supratok.Tokenizer.load(Path(folder) / "t.json")
    for text in (*texts[:2], "", "\x00 any text\r\n 🎉"):
        assert again.decode(again.encode(text)) == text
        assert again.encode_batch([text]) == [tokenizer.encode(text)]
print(f"supratok {supratok.__version__} works")
