"""Files become documents; some are held out. May import: recipe, common."""

from .stream import Corpus, CorpusError, Document, Languages, Source, open_corpus

__all__ = ["Corpus", "CorpusError", "Document", "Languages", "Source", "open_corpus"]
