"""What mkdocs does beside its own for mkdocs.yml: a page for each command, made of its help, and the
files of the tree that documents link to."""

import ast
import os
import re
import shutil
import subprocess
from pathlib import Path

from mkdocs.structure.files import File

PROGRAM = os.environ.get("HAUL_PROGRAM", "haul")
IN_PYTHON = ("demo", "mcp") # commands of the Python package, of whose modules the docstring is the help
LINK = re.compile(r"\]\(((?:\.\./)+)((?:include|src|examples|tests|CONTRIBUTING|CHANGELOG|README)[^)#]*)")


def help_of(*words):
    return subprocess.run([PROGRAM, "help", *words], capture_output=True, text=True, check=True).stdout


def commands():
    return re.findall(r"^  ([a-z]+) +\S", help_of().split("help COMMAND")[0], re.M)


def parts_of(command):
    return re.findall(rf"^  (?:haul )?{command} ([a-z]+)\b", help_of(command), re.M)


def page_of_module(tree, command):
    module = (tree / "python" / "haul" / f"{command}.py").read_text(encoding="utf-8")
    return f"# haul {command}\n\n```text\n{ast.get_docstring(ast.parse(module))}\n```\n"


def mpi_program():
    """haul-mpi beside the program, or on the PATH; None where haul was built without MPI."""
    beside = os.path.dirname(shutil.which(PROGRAM) or PROGRAM)
    return shutil.which("haul-mpi", path=beside) or shutil.which("haul-mpi")


def page_of_mpi():
    text = subprocess.run([mpi_program(), "--help"], capture_output=True, text=True, check=True).stdout
    return f"# haul-mpi\n\n```text\n{text}```\n"


def page_of(command):
    text = f"# haul {command}\n\n```text\n{help_of(command)}```\n"
    for part in dict.fromkeys(parts_of(command)):
        text += f"\n## haul {command} {part}\n\n```text\n{help_of(command, part)}```\n"
    return text


def on_config(config):
    names = [*commands(), *IN_PYTHON, *(["haul-mpi"] if mpi_program() else [])]
    config.nav.append({"Commands": [{name: f"commands/{name}.md"} for name in dict.fromkeys(names)]})
    return config


def on_files(files, config):
    tree = Path(config.config_file_path).parent
    for page in config.nav[-1]["Commands"]:
        for name, path in page.items():
            content = (page_of_module(tree, name) if name in IN_PYTHON else
                       page_of_mpi() if name == "haul-mpi" else page_of(name))
            files.append(File.generated(config, path, content=content))
    linked = set()
    for page in list(files.documentation_pages()):
        linked.update(match[1] for match in LINK.findall(page.content_string))
    for path in sorted(linked):
        if (tree / path).is_file():
            files.append(File.generated(config, f"tree/{path}.txt" if path.endswith(".md") else f"tree/{path}",
                                        abs_src_path=str(tree / path)))
    return files


def on_page_markdown(markdown, page, **_):
    deep = page.file.src_uri.count("/")

    def inside(match):
        path = f"{match[2]}.txt" if match[2].endswith(".md") else match[2]
        return f"]({'../' * deep}tree/{path}" if match[1].count("..") > deep else match[0]
    return LINK.sub(inside, markdown)
