"""Figures of tokenizers with confidence intervals, and time and memory."""
