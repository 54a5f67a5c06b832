"""Training and encoding, slow and plain: the specification of the fast code, and a text to read.

Covered: curation, words, script-aware processing, the traditional pass, seeds, the screen, the
multiword pass and its crossover, training without the curriculum, pruning, both rules of encoding.
Not covered, and refused by `train`: the expression pass and refinement. Reading files is not
covered either: a document is a text that is not empty.

Each step counts everything again. Nothing is incremental, no table is pruned, there are no threads,
and the room borrows no fast code. It does borrow
- the class and the script of each character, a table of Unicode 14 inside the core. The table is
  data, not code; `unicodedata` would change with the version of Python;
- from the corpus room, the hash that holds documents out, and `language_of`. Both are plain.

`reference.train` learns the tokens of `supratok.train`, and `reference.encode` gives the ids of
`Tokenizer.encode`. Where they differ, this room is right. The fast code estimates two numbers on
large texts that are exact here: `phrases.expected_crossover` and `choice.boundary_bits`.

Read in this order:

    passes         train() and encode(); the alphabet, the traditional pass, pruning
    words          how a text is cut into words, and which of them may share a token
    merges         the merge loop, and the two rules that encode
    phrases        the multiword pass
    choice         which of its joins become tokens
    seeds          phrases that hold together, by pointwise mutual information
    scripts        Turkish, Finnish, Arabic, and scripts without spaces
    curation       which documents are kept
    no_curriculum  all merges in one pass, for comparison
    boundaries     what may follow a text, by trying every continuation

May import: recipe; `Token` from tokenizer; `split` and `languages` from corpus; `char_class` from
the core."""

from .passes import encode, train

__all__ = ["encode", "train"]
