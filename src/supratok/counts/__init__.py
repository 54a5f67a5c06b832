"""Counts as files that add up. May import: common."""

from .about import About, merged_about
from .archive import CountsFile, Member, read_counts, verify_counts, write_counts
from .merge import merge_counts
from .sample import Sample
from .words import split_words, word_rows

__all__ = [
    "About",
    "CountsFile",
    "Member",
    "Sample",
    "merge_counts",
    "merged_about",
    "read_counts",
    "split_words",
    "verify_counts",
    "word_rows",
    "write_counts",
]
