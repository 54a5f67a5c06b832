"""Machines are shared and noisy: no example of a property test fails for being slow."""

from hypothesis import settings

settings.register_profile("supratok", deadline=None)
settings.load_profile("supratok")
