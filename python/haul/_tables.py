"""Frames written for other tools: Excel, Arrow, Parquet."""

from pathlib import Path

from . import _native

SHEET_ROWS = 1048575 # below the heads


def to_excel(path, tables):
    _native.needed("openpyxl")
    import pandas as pd

    for name, table in tables.items():
        if len(table) > SHEET_ROWS:
            raise _native.UsageError(
                f"a sheet holds {SHEET_ROWS:,} rows, '{name}' has {len(table):,}")
    with pd.ExcelWriter(path) as writer:
        for name, table in tables.items():
            # no more characters are in a sheet's name
            table.to_excel(writer, sheet_name=name[:31], index=False)


def to_arrow(tables):
    _native.needed("pyarrow")
    import pyarrow

    return {name: pyarrow.Table.from_pandas(table, preserve_index=False)
            for name, table in tables.items()}


def to_parquet(folder, tables):
    _native.needed("pyarrow")
    from pyarrow import parquet

    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, table in to_arrow(tables).items():
        parquet.write_table(table, Path(folder) / f"{name}.parquet")
