import sys
from pathlib import Path

HERE = Path(__file__).parent
BENCH = HERE.parents[1] / "bench"
sys.path[:0] = [str(HERE), str(BENCH), str(BENCH / "labels")]
