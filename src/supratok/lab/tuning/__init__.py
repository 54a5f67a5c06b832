"""`supratok tune`: search for the recipe with the best score (paper 3.5)."""

from .search import tune

__all__ = ["tune"]
