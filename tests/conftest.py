"""What every test shares."""

from __future__ import annotations

import pytest

# The published suites assert in plain Python; rewriting makes a failure show both sides.
pytest.register_assert_rewrite("scrubjay.testing")
