"""Baselines: the tokenizers to compare ours with, trained once and kept."""

from .store import BASELINES, Documents, Estimate, Trained, estimate, losses, trained

__all__ = ["BASELINES", "Documents", "Estimate", "Trained", "estimate", "losses", "trained"]
