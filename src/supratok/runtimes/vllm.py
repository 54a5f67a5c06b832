"""A tokenizer for vLLM: `vllm serve my-model --tokenizer-mode supratok`.

vLLM loads tokenizers by `AutoTokenizer`, so all that its mode "hf" does stays, with the patch of
`transformers` around the loading. vLLM calls `register` in each of its processes, since pyproject
lists it as a plugin; the mode changes nothing for those who do not ask for it.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

from .patch import patch_transformers

MODE = "supratok"


def register() -> None:
    """Make the tokenizer mode known to vLLM."""
    try:
        tokenizers = import_module("vllm.tokenizers").TokenizerRegistry
        renderers = import_module("vllm.renderers.registry").RENDERER_REGISTRY
    except (ImportError, AttributeError) as error:
        logging.getLogger(__name__).warning(
            "this vLLM has no registry of tokenizers that supratok knows (%s); call"
            " supratok.patch_transformers() before vLLM loads its tokenizer",
            error,
        )
        return
    if MODE in tokenizers.tokenizers:
        return
    tokenizers.register(MODE, __name__, "SupratokTokenizer")
    renderers.register(MODE, "vllm.renderers.hf", "HfRenderer")  # chat templates, as in mode "hf"


class SupratokTokenizer:
    """What vLLM asks for in this mode: the tokenizer of mode "hf", encoding by our core."""

    @classmethod
    def from_pretrained(cls, *args: Any, **options: Any) -> Any:
        patch_transformers()
        return import_module("vllm.tokenizers.hf").CachedHfTokenizer.from_pretrained(
            *args, **options
        )
