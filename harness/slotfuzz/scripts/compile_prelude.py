"""Compiles the snippets of the prelude, so that a target need not when it starts.

Usage: compile_prelude.py OUTPUT FILE...; the FILEs in the order of the prelude. Run it with the
Python that the target embeds. OUTPUT is a C++ list of std::string_view, which joined are what
marshal writes of a list: the code of each snippet. CMakeLists.txt calls this, and
harness/engine/run/interpreter.cc reads it.
"""

import marshal
import sys
from pathlib import Path

# C++ compilers need not take a literal that is longer than 65,536 bytes.
LITERAL_BYTES_MAX = 60_000


def snippets(text: str) -> list[str]:
    """What follows each marker of a file, as read_snippets() of snippets.cc splits it."""
    result = []
    for line in text.splitlines(keepends=True):
        if line.startswith("#: "):
            result.append("")
        elif result and not line.startswith("#> "):
            result[-1] += line
    return result


def literal(data: bytes) -> str:
    """DATA as the value of a std::string_view."""
    escaped = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'\\"' else f"\\{byte:03o}"
                      for byte in data)
    return f'{{"{escaped}", {len(data)}}},\n'


def main(output: Path, files: list[Path]) -> None:
    """Writes OUTPUT."""
    codes = [compile(text.strip("\n") + "\n", "prelude.py", "exec", dont_inherit=True)
             for file in files for text in snippets(file.read_text(encoding="utf-8"))]
    data = marshal.dumps(codes)
    output.write_text("".join(literal(data[at:at + LITERAL_BYTES_MAX])
                              for at in range(0, len(data), LITERAL_BYTES_MAX)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), list(map(Path, sys.argv[2:])))
