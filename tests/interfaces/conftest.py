"""Tests of the interfaces need libraries that the core's environment has not.

`tests/interfaces/run.sh` builds an environment that has them, and runs these tests in it.
"""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("PIPIMEM_TEST_INTERFACES") else ["*"]
