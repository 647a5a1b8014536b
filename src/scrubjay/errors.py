"""The error tree, ordered by how the caller can respond.

```text
ScrubjayError            anything scrubjay raises on purpose
├─ InputError            the input is wrong: change the call                 (exit 2)
│  ├─ ConfigError        a setting is unknown or has an invalid value
│  ├─ ForbiddenError     the caller may not do this
│  └─ NotFoundError      an id, a source, a model or a path does not exist
├─ SourceError           a file or folder cannot be read: fix it, sync again (exit 3)
├─ StoreError            the store cannot do it now                          (exit 4)
│  ├─ StoreReadOnlyError its file or folder is read-only: it can still be read
│  ├─ StoreFullError     its disk is full: free some space, try again
│  ├─ StoreUnreachableError its database server does not answer: start it, try again
│  ├─ StoreBusyError     another process holds the write lock: try again
│  │  └─ StoreConflictError others changed the memories since they were read: try again
│  ├─ StoreDamagedError  the file is not a sound store: restore the last backup
│  ├─ QuotaError         a tenant or user has reached a quota: forget memories, or raise it
│  └─ StoreVersionError  the store was made by a newer scrubjay: upgrade
└─ ProviderError         a model or a remote service failed: see the hint    (exit 5)
   └─ ModelMismatchError a vector does not fit its model
```

A message says what failed, on which object, the two values that disagree and the state now; `hint` is
the next command. A cause that was not observed is never named.
"""

from __future__ import annotations


class ScrubjayError(Exception):
    """Anything scrubjay raises on purpose.

    Attributes:
        hint: The next command or step, or an empty string where there is none.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InputError(ScrubjayError):
    """The input is wrong; changing the call fixes it."""

    exit_code = 2


class ConfigError(InputError):
    """A setting is unknown, or has an invalid value."""


class ForbiddenError(InputError):
    """The caller may not do this; nothing was done."""


class NotFoundError(InputError):
    """An id, a source, a model or a path does not exist."""


class SourceError(ScrubjayError):
    """A file or a folder cannot be read; nothing already stored was changed."""

    exit_code = 3


class StoreError(ScrubjayError):
    """The store cannot do it now."""

    exit_code = 4


class StoreReadOnlyError(StoreError):
    """The store's file or folder is read-only; it can still be read."""


class StoreFullError(StoreError):
    """The disk that holds the store is full; it can still be read."""


class StoreUnreachableError(StoreError):
    """The store's database server does not answer, or the connection to it was lost."""


class StoreBusyError(StoreError):
    """Another process holds the write lock for longer than the allowed wait."""


class StoreConflictError(StoreBusyError):
    """Memories were changed between being read and being written; nothing of the write was stored."""


class StoreDamagedError(StoreError):
    """The file is not a sound scrubjay store."""


class QuotaError(StoreError):
    """A tenant or a user has as many memories as the settings allow; nothing of the write was stored."""


class StoreVersionError(StoreError):
    """The store was written by a newer scrubjay, or by an older one and may not be migrated."""


class ProviderError(ScrubjayError):
    """A model or a remote service failed."""

    exit_code = 5


class ModelMismatchError(ProviderError):
    """A vector does not fit its model."""
