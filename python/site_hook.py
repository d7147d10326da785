"""What mkdocs does beside its own for mkdocs.yml: a page for each command, made of its help, and the
files of the tree that documents link to."""

import os
import re
import subprocess
from pathlib import Path

from mkdocs.structure.files import File

PROGRAM = os.environ.get("HAUL_PROGRAM", "haul")
LINK = re.compile(r"\]\(((?:\.\./)+)((?:include|src|examples|tests|CONTRIBUTING|CHANGELOG|README)[^)#]*)")


def help_of(*words):
    return subprocess.run([PROGRAM, "help", *words], capture_output=True, text=True, check=True).stdout


def commands():
    return re.findall(r"^  ([a-z]+) +\S", help_of().split("help COMMAND")[0], re.M)


def parts_of(command):
    return re.findall(rf"^  (?:haul )?{command} ([a-z]+)\b", help_of(command), re.M)


def page_of(command):
    text = f"# haul {command}\n\n```text\n{help_of(command)}```\n"
    for part in dict.fromkeys(parts_of(command)):
        text += f"\n## haul {command} {part}\n\n```text\n{help_of(command, part)}```\n"
    return text


def on_config(config):
    pages = [{name: f"commands/{name}.md"} for name in commands() if name != "mcp"]
    config.nav.append({"Commands": pages})
    return config


def on_files(files, config):
    tree = Path(config.config_file_path).parent
    for page in config.nav[-1]["Commands"]:
        for name, path in page.items():
            files.append(File.generated(config, path, content=page_of(name)))
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
