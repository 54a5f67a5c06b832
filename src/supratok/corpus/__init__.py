"""Files become documents; some are held out. May import: recipe, common."""

from .faults import CorpusError
from .reading import Document
from .stream import Corpus, Languages, Source, open_corpus

__all__ = ["Corpus", "CorpusError", "Document", "Languages", "Source", "open_corpus"]
