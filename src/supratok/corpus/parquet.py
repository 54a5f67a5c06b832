"""Parquet files become documents: the column of the text, and that of the language."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..common.packages import package
from .faults import CorpusError, Fault, is_text, record_fault, value_fault
from .reading import Document, Reading, decoded, language
from .unpack import BLOCK


def read_parquet(file: BinaryIO, name: str, reading: Reading, size: int) -> Iterator[Document]:
    """The column `text_key`, some rows at a time; the rows read count as a share of `size`."""
    arrow, key = _pyarrow(), reading.text_key
    start, row = reading.bytes_read, 0
    try:
        table = arrow.parquet.ParquetFile(file, buffer_size=BLOCK)
        rows, names = table.metadata.num_rows, table.schema_arrow.names
        if names.count(key) != 1:
            reading.bad(name, _column_fault(names, key), count=rows)
            return
        has_lang = names.count(reading.lang_key) == 1 and reading.lang_key != key
        for batch in table.iter_batches(
            256, columns=[key, reading.lang_key] if has_lang else [key]
        ):
            texts = _values(batch.column(key))
            langs = _values(batch.column(reading.lang_key)) if has_lang else itertools.repeat(None)
            for value, lang in zip(texts, langs, strict=False):
                row += 1
                if not is_text(value):
                    reading.bad(f"{name}, row {row}", value_fault(value, key))
                elif value:
                    yield Document(value, language(lang))
            reading.bytes_read = start + size * row // rows
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        message = f"a corrupt parquet file ({error}); fetch or write it again"
        raise Fault("corrupt parquet", message) from error


def _column_fault(names: list[str], key: str) -> Fault:
    """Of a file without a column of this name, or with several."""
    if key not in names:
        return record_fault(dict.fromkeys(names), key)
    message = f'{names.count(key)} columns have the name "{key}"; give each a name of its own'
    return Fault("several columns", message)


def _pyarrow() -> Any:
    try:
        package("pyarrow.parquet", "parquet")
        return package("pyarrow", "parquet")
    except ImportError as error:
        raise CorpusError(f"to read parquet, {error}") from error


def _values(column: Any) -> list[object]:
    """The values of a column, with the error in place of a value that is not UTF-8."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        values = column.cast("binary").to_pylist()
        return [value if value is None else decoded(value) for value in values]
