"""Training and encoding, slow and plain: the specification of the fast code, and a text to read.

Covered: curation, words, script-aware processing, the traditional pass, seeds, the screen, the
multiword pass and its crossover, training without the curriculum, pruning, both rules of encoding.
Not covered, and refused by `train`: the expression pass and refinement. The tests have slow twins
of their parts. Reading files is not covered either: a document is a text that is not empty.

Each step counts everything again. Nothing is incremental, no table is pruned, no thread is used,
and no fast code is borrowed. Two things are: the class and script of each character, a table of
Unicode 14 inside the core, which is data and no code (`unicodedata` changes with Python); and from
the corpus room, which is plain itself, the hash that holds documents out and `language_of`.

`reference.train` learns what `supratok.train` learns, token by token, and `reference.encode` gives
the ids of `Tokenizer.encode`. Where they differ, this room is right. On large texts the fast code
estimates two numbers that are exact here: `phrases.expected_crossover`, `phrases.boundary_bits`.

Read in this order:

    passes         train() and encode(); the alphabet, the traditional pass, pruning
    words          how a text is cut into words, and which of them may share a token
    merges         the merge loop, and the two rules that encode
    phrases        the multiword pass
    seeds          phrases that hold together, by pointwise mutual information
    scripts        Turkish, Finnish, Arabic, and scripts without spaces
    curation       which documents are kept
    no_curriculum  all merges in one pass, for comparison

May import: recipe; from tokenizer `Token`; from corpus `split` and `languages`; from the core
`char_class`."""

from .passes import encode, train

__all__ = ["encode", "train"]
