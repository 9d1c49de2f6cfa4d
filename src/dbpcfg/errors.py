"""Errors about input and calls, with one base class for all of them."""


class DbpcfgError(ValueError):
    """A mistake in the input or in how the package was called; the message says what to do."""


class MissingFileError(FileNotFoundError, DbpcfgError):
    """A file or folder that was named and is not there."""


class TreeSyntaxError(DbpcfgError):
    """A bracketed tree that cannot be read."""


class GrammarError(DbpcfgError):
    """Arrays or a file that are not a grammar."""


class UnparsableError(DbpcfgError):
    """A sentence that the grammar gives probability zero."""


class LockedError(DbpcfgError):
    """A run or a cell that another process is running."""


class UnfinishedRunError(DbpcfgError):
    """A run whose chains are not all finished."""
