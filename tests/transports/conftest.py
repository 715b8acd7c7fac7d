"""The asserts of the contract say what they compared, as those of tests do."""

import pytest

pytest.register_assert_rewrite("transports.contract")
