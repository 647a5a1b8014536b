"""Write the types of the TypeScript client from the server's OpenAPI. Needs npm, to write; not, to check.

python scripts/generate_client.py            write clients/typescript/src/schema.ts
python scripts/generate_client.py --check    exit 1 if it is out of date
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from generate_docs import load_openapi

CLIENT = Path(__file__).parents[1] / "clients" / "typescript"
TYPES = CLIENT / "src" / "schema.ts"
GENERATOR = CLIENT / "node_modules" / ".bin" / "openapi-typescript"


def main() -> int:
    """Write or check the types."""
    arguments = argparse.ArgumentParser(description="Write the types of the TypeScript client.")
    arguments.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if they are out of date"
    )
    check = arguments.parse_args().check
    if TYPES.is_file() and TYPES.read_text(encoding="utf-8").startswith(first_line(described())):
        return 0
    name = TYPES.relative_to(CLIENT.parents[1])
    if check:
        print(f"{name} is out of date")
        print("hint: make client", file=sys.stderr)
        return 1
    TYPES.write_text(written(), encoding="utf-8")
    print(f"{name} written")
    return 0


def written() -> str:
    """Return the types that openapi-typescript makes of the OpenAPI."""
    document = described()
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "openapi.json"
        source.write_text(document, encoding="utf-8")
        command = [str(GENERATOR), str(source), "--default-non-nullable", "false"]
        types = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return first_line(document) + types


def first_line(document: str) -> str:
    """Return what tells, without npm, from which document the types were made."""
    return f"// From OpenAPI {hashlib.sha256(document.encode()).hexdigest()} by scripts/generate_client.py.\n"


def described() -> str:
    """Return the OpenAPI without examples and version, which types do not show."""
    document = load_openapi()
    document["info"].pop("version")
    return json.dumps(without_examples(document))


def without_examples(value: Any, *, fields: bool = False) -> Any:
    """Return a part of the document without its examples; ``fields``: its keys are names of fields."""
    if isinstance(value, dict):
        return {
            key: without_examples(each, fields=key == "properties" and not fields)
            for key, each in value.items()
            if fields or key not in ("example", "examples")
        }
    return [without_examples(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main())
