"""Figures of tokenizers, with intervals, time and memory."""
