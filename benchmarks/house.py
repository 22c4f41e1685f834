"""The house in figures: files, lines, code tokens and folded constructs by room, and the imports.

`python -m benchmarks.house`; the mean complexity needs radon (`pip install radon`).
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HOUSE = Path(__file__).parents[1] / "pipimem"
FILES = sorted(HOUSE.rglob("*.py"))
# Where bots live: the bounds of the library were set before there were any.
INTERFACES = ("mcp", "bots", "adapters", "web", "serving")
# Not counted with the complexity: what they decide by is told in their own design.
RULES = HOUSE / "sidecar" / "rules"
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
CODE = (tokenize.NAME, tokenize.OP, tokenize.NUMBER)


def module_name(path: Path) -> str:
    """The dotted name of a module of ours."""
    parts = path.relative_to(HOUSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


@cache
def imports(module: str) -> tuple[str, ...]:
    """The modules of ours that a module imports as it is loaded; what it imports later is free."""
    found = set()
    for node in ast.parse(MODULES[module].read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                found.add(below if below in MODULES else str(node.module))
    return tuple(sorted(found & MODULES.keys() - {module}))


@cache
def import_chain(module: str) -> tuple[str, ...]:
    """The longest row of modules of which each imports the next."""
    longest = max((import_chain(below) for below in imports(module)), key=len, default=())
    return (module, *longest)


def longest_chain() -> tuple[str, ...]:
    """The longest row of imports in the house."""
    return max(map(import_chain, MODULES), key=len)


def code_tokens(text: str) -> int:
    """Names, operators and numbers: formatting cannot move their count."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type in CODE for token in tokens)


def folded(text: str) -> Counter[str]:
    """How many comprehensions, conditional expressions and walruses a text has."""
    count: Counter[str] = Counter()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, COMPREHENSIONS):
            count["comprehensions"] += 1
        elif isinstance(node, ast.IfExp):
            count["conditionals"] += 1
        elif isinstance(node, ast.NamedExpr):
            count["walruses"] += 1
    return count


def complexities(files: list[Path]) -> Iterator[int]:
    """The complexity of each block, as radon counts it."""
    from radon.complexity import cc_visit

    for path in files:
        if not path.is_relative_to(RULES):
            for block in cc_visit(path.read_text("utf-8")):
                yield block.complexity


def mean_complexity(files: list[Path]) -> str:
    """For the table; a dash without radon, or where nothing is counted."""
    try:
        counted = list(complexities(files))
    except ImportError:
        return "-"
    return f"{sum(counted) / len(counted):.2f}" if counted else "-"


def row(name: str, files: list[Path]) -> str:
    """A line of the table."""
    texts = [path.read_text("utf-8") for path in files]
    lines = sum(len(text.splitlines()) for text in texts)
    count = sum((folded(text) for text in texts), Counter())
    shares = [
        1000 * count[each] / lines if lines else 0
        for each in ("comprehensions", "conditionals", "walruses")
    ]
    return (
        f"{name:22}{len(files):6}{lines:9,}{sum(map(code_tokens, texts)):10,}"
        + "".join(f"{share:8.1f}" for share in shares)
        + f"{mean_complexity(files):>12}"
    )


def main() -> None:
    """A line for each room, then the longest chain of imports."""
    rooms: dict[str, list[Path]] = {}
    for path in FILES:
        parts = path.relative_to(HOUSE).parts
        rooms.setdefault(parts[0] if len(parts) > 1 else "pipimem/*.py", []).append(path)
    heads = f"{'room':22}{'files':>6}{'lines':>9}{'tokens':>10}"
    print(heads + f"{'compr.':>8}{'cond.':>8}{'walrus':>8}{'complexity':>12}")
    for name, files in rooms.items():
        print(row(name, files))
    library = [path for name, files in rooms.items() if name not in INTERFACES for path in files]
    print(row("without interfaces", library))
    print(row("all", FILES))
    print("\ncompr., cond., walrus: in a thousand lines; complexity: without sidecar/rules")
    chain = longest_chain()
    print(f"\nlongest chain of imports, {len(chain)}:\n  " + "\n  ".join(chain))


if __name__ == "__main__":
    main()
