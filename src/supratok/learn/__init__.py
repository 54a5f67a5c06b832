"""The passes of training (Figure 1, lines 2-8): each takes tokens and returns tokens.

May import: readings, tokenizer, corpus, recipe, common."""

from .alphabet import choose_alphabet
from .expression import learn_expressions
from .multiword import learn_multiword
from .no_curriculum import learn_at_once
from .prune import prune_to_size
from .refine import refine_tokens
from .report import target_report, training_report
from .scripts import find_script_rules
from .traditional import learn_traditional

__all__ = [
    "choose_alphabet",
    "find_script_rules",
    "learn_at_once",
    "learn_expressions",
    "learn_multiword",
    "learn_traditional",
    "prune_to_size",
    "refine_tokens",
    "target_report",
    "training_report",
]
