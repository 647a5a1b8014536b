import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# The modules of facts import each other by bare names, last, so that no name of theirs hides a library's.
sys.path[:0] = [str(HERE), str(ROOT)]
sys.path.append(str(ROOT / "bench"))
