"""Recipes of packaging/ agree with the build: options that CMake knows, the version, Python that compiles.

usage: check_recipes.py SOURCE_DIR
"""
import ast
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
recipes = source / "packaging"
build = (source / "CMakeLists.txt").read_text()
version_header = (source / "include/haul/version.h").read_text()
known = set(re.findall(r"^(?:option|set)\((\w+)", build, re.M)) | {"CMAKE_DISABLE_FIND_PACKAGE_MPI"}

wrong = []
for path in sorted(p for p in recipes.rglob("*") if p.is_file()):
    text = path.read_text()
    options = set(re.findall(r"-D((?:HAUL|BUILD|CMAKE_DISABLE)_\w+)=", text))
    options |= set(re.findall(r'define(?:_from_variant)?\("(\w+)"', text))
    wrong += [f"{path}: no option {name} in CMakeLists.txt" for name in sorted(options - known)]
    if path.suffix == ".py":
        ast.parse(text, str(path))

version = ".".join(re.search(rf"HAUL_VERSION_{part} (\d+)", version_header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
conda = recipes / "conda/recipe.yaml"
if f'version: "{version}"' not in conda.read_text():
    wrong.append(f"{conda}: not version {version} of include/haul/version.h")
try:
    from rattler_build import Stage0Recipe
except ImportError:
    print("no py-rattler-build: the recipe for conda is not rendered")
else:
    print(Stage0Recipe.from_file(str(conda)).render())

print("\n".join(wrong) or "fine")
sys.exit(bool(wrong))
