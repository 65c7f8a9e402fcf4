# SPDX-License-Identifier: MIT
"""The manual says what the program and the library do.

Parts of libxdownload(3) are what a function here makes of the sources; where
one differs, the failure shows the text that belongs there.
"""
import ctypes
import os
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

SOURCE = Path(os.environ["XD_SOURCE"])
COMMAND_PAGES = sorted(SOURCE.glob("cli/*.pod"))
LIBRARY_PAGE = SOURCE / "lib" / "man" / "libxdownload.pod"


def section(page, title):
    return re.search(rf"(?sm)^=head1 {title}\n(.*?)(?=^=head1|^=cut)",
                     page.read_text())[1]


# ---- the command ----

def options_of_the_help():
    text = subprocess.run([os.environ["XDOWNLOAD"], "--help", "all"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text))


def options_of_the_page():
    items = re.findall(r"(?m)^=item .*$", "\n".join(
        page.read_text() for page in COMMAND_PAGES))
    return set(re.findall(r"B<(--[a-z0-9-]+)>", "\n".join(items)))


def test_help_and_manual_know_the_same_options():
    assert len(options_of_the_help()) > 10
    assert options_of_the_help() == options_of_the_page()


COMMANDS = {"verify", "show", "make", "check", "put", "add", "drop", "renew",
            "play", "serve", "depot", "bench", "via", "trace"}


def test_each_command_has_a_page_that_has_its_own_options():
    assert {p.stem for p in COMMAND_PAGES} == {"xdownload"} | {
        f"xdownload-{name}" for name in COMMANDS}
    for name in COMMANDS:
        text = subprocess.run([os.environ["XDOWNLOAD"], name, "--help"],
                              check=True, stdout=subprocess.PIPE,
                              text=True).stdout
        own = re.search(r"(?s)\nOptions of this command:\n(.*?)\n\n", text)
        page = (SOURCE / "cli" / f"xdownload-{name}.pod").read_text()
        names = re.findall(r"(?m)^  .{4}(--[a-z-]+)", own[1])
        assert names and [n for n in names if f"B<{n}>" not in page] == []
        assert page.index("=head1 EXAMPLES") < page.index("=head1 OPTIONS")


# ---- the library ----

def verbatim(text):
    """A verbatim paragraph of POD, which no blank line ends."""
    return re.sub(r"(?m)^(?=.)", "    ", text)


def test_the_example_is_the_program_that_is_compiled():
    licence, _, program = (
        SOURCE / "examples" / "fetch.c").read_text().partition("\n")
    assert "SPDX" in licence
    assert verbatim(program) in section(LIBRARY_PAGE, "EXAMPLE"), \
        verbatim(program)


def codes():
    header = SOURCE / "include" / "xdownload" / "error.h"
    rows = re.findall(r'X\((\w+), (-\d+), "(.*?)"\)', header.read_text())
    assert len(rows) > 10
    return "".join(f"    {n:<10} {v:>4}  {text}\n" for n, v, text in rows)


def test_the_table_of_errors_is_that_of_the_header():
    assert codes() in section(LIBRARY_PAGE, "ERRORS"), codes()


class OptionInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [
        (name, ctypes.c_char_p) for name in [
            "name", "argument", "range", "default_value", "used_by",
            "sentence"]]


def options():
    """=item NAME ARGUMENT, and a paragraph."""
    library = ctypes.CDLL(os.environ["XD_LIBRARY"])
    info = OptionInfo(ctypes.sizeof(OptionInfo))
    text, i = "", 0
    while library.xd_option_info(ctypes.c_size_t(i), ctypes.byref(info)) == 0:
        row = {name: value.decode() if value else None for name, value in (
            (f[0], getattr(info, f[0])) for f in OptionInfo._fields_[1:])}
        argument = f" I<{row['argument']}>" if row["argument"] else ""
        more = [row["range"],
                row["default_value"] and f"default {row['default_value']}",
                row["used_by"] and f"for {row['used_by']}"]
        paragraph = f"{row['sentence']} ({'; '.join(filter(None, more))})"
        text += (f"=item B<{row['name']}>{argument}\n\n"
                 + textwrap.fill(paragraph, 80, break_on_hyphens=False)
                 + "\n\n")
        i += 1
    assert i > 10
    return text


@pytest.mark.plain
def test_the_list_of_options_is_that_of_the_library():
    there = re.search(r"(?s)=over 4\n\n(.*)=back",
                      section(LIBRARY_PAGE, "OPTIONS"))[1]
    assert there == options(), options()


def functions():
    return set((SOURCE / "lib" / "xdownload.symbols").read_text().split())


def functions_of_the_page():
    return set(re.findall(r"B<(xd_\w+)>\(\)", LIBRARY_PAGE.read_text()))


def test_every_function_has_its_place_in_the_manual():
    assert functions_of_the_page() == functions()


def page_of(header, tmp_path):
    page = tmp_path / "page.pod"
    done = subprocess.run(["perl", SOURCE / "lib" / "man" / "header.pl", header,
                           page], check=False, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    return page


HEADERS = sorted(h for h in SOURCE.glob("include/*/*.h")
                 if h.stem != h.parent.name)


def test_every_function_has_a_section_in_the_page_of_its_header(tmp_path):
    found = []
    for header in HEADERS:
        text = page_of(header, tmp_path).read_text()
        found += [n for line in re.findall(r"(?m)^=head2 (.*)$", text)
                  for n in re.findall(r"\bxd_\w+(?=\(\))", line)]
        assert not re.search(r"(?m)^    XD_(API|MUST)", text)
    assert functions() - set(found) == set()


def test_a_contract_becomes_paragraphs(tmp_path):
    header = tmp_path / "planted.h"
    header.write_text("/* What it is. */\n#include <x.h>\nstruct xd_x;\n\n"
                      "/*\n * Two <lines>\n * of it.\n *\n *     as drawn\n"
                      " * Errors:    NOMEM,\n *            or more.\n */\n"
                      "XD_API XD_MUST_CHECK int xd_a(int b,\n"
                      "                              int c);\n")
    assert page_of(header, tmp_path).read_text().split("=head1 ", 3)[3] == (
        "DESCRIPTION\n\nWhat it is.\n\n=head1 FUNCTIONS AND TYPES\n\n"
        "=head2 xd_a()\n\n    int xd_a(int b,\n             int c);\n\n"
        "Two E<lt>linesE<gt>\nof it.\n\n    as drawn\n\n"
        "B<Errors:> NOMEM,\nor more.\n\n"
        "=head1 SEE ALSO\n\nlibxdownload(3)\n\n=cut\n")


def test_lines_that_begin_with_a_dash_become_a_list(tmp_path):
    header = tmp_path / "planted.h"
    header.write_text("/* What it is. */\n\n"
                      "/*\n * Sets it:\n * - now,\n *   or soon;\n * - later.\n"
                      " * Blocks: no.\n */\nstruct xd_a {\n    int b;\n\n"
                      "    int c;\n};\n")
    page = page_of(header, tmp_path)
    assert ("=head2 struct xd_a\n\n    struct xd_a {\n        int b;\n\n"
            "        int c;\n    };\n\nSets it:\n\n=over 2\n\n"
            "=item *\n\nnow,\nor soon;\n\n=item *\n\nlater.\n\n=back\n\n"
            "B<Blocks:> no.\n\n") in page.read_text(), page.read_text()
    test_a_page_is_good_pod(page)


@pytest.mark.parametrize("header", HEADERS, ids=lambda h: h.stem)
def test_the_page_of_a_header_is_good_pod(header, tmp_path):
    test_a_page_is_good_pod(page_of(header, tmp_path))


# ---- all pages ----

@pytest.mark.parametrize("page", [*COMMAND_PAGES,
                                  *sorted(SOURCE.glob("lib/man/*.pod"))],
                         ids=lambda page: page.stem)
def test_a_page_is_good_pod(page):
    if not shutil.which("podchecker"):
        pytest.skip("podchecker is not installed")
    done = subprocess.run(["podchecker", "-warnings", page], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    assert done.returncode == 0, done.stdout
