"""The same as learn and train, slow and plain. Where they differ, this is right.

May import: recipe, common."""

from .passes import encode, train

__all__ = ["encode", "train"]
