# SPDX-License-Identifier: MIT
"""What a machine can check of the rules of this tree, a machine checks.

Each rule is a function that lists its violations, so that a planted one shows
that the rule can fail.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["XD_SOURCE"])
BUILD = Path(os.environ["XD_BUILD"])
CC = os.environ.get("XD_CC", "cc")
HERE = Path(__file__).parent
FOLDERS = ["lib", "cli", "include", "examples", "tests"]


def c_files(*folders):
    return [p for f in folders or FOLDERS
            for p in sorted((SOURCE / f).rglob("*.[ch]"))]


def run(*command, **options):
    return subprocess.run(list(map(str, command)), text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)


# ---- includes ----

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def includes(path):
    return INCLUDE.findall(path.read_text())


def climbing(files):
    return [(p, name) for p in files for _, name in includes(p)
            if "../" in name]


def test_no_include_climbs_out_of_its_folder():
    assert climbing(c_files()) == []


def test_an_include_that_climbs_would_be_found(tmp_path):
    planted = tmp_path / "x.c"
    planted.write_text('#include "../lib/sched/sched.h"\n')
    assert climbing([planted]) == [(planted, "../lib/sched/sched.h")]


COMMAND_USES = {
    "common": [], "args": ["common"], "trace": ["common", "args", "lab"],
    "report": ["common", "args", "trace"],
    "get": ["common", "args", "report", "trace"], "show": ["common", "args"],
    "complete": ["common", "args"],
    "check": ["common", "args", "put"], "make": ["common", "args"],
    "http": ["common", "args"],
    "serve": ["common", "args", "http", "trace"],
    "circus": ["base"], "nodes": ["base", "mesh", "io", "engine"],
    "depot": ["common", "args", "http", "circus"],
    "play": ["common", "args", "http", "serve", "trace"],
    "bench": ["common", "args", "play", "trace", "lab"],
    "put": ["common", "args", "report"], "upkeep": ["common", "args"],
    "via": ["common", "args", "make", "nodes", "mesh"],
}


def sideways(files):
    """Includes from folders of the command that this one may not use."""
    return [(p, name) for p in files for bracket, name in includes(p)
            if bracket == '"' and name.partition("/")[0] not in
            ["command", p.parent.name, *COMMAND_USES[p.parent.name]]]


def test_a_folder_of_the_command_uses_those_below_it():
    folders = [f"cli/{name}" for name in COMMAND_USES]
    assert sideways(c_files(*folders)) == []
    assert {p.parent.name for p in c_files("cli")} == {"cli", *COMMAND_USES}


def test_a_folder_that_looks_sideways_would_be_found(tmp_path):
    (tmp_path / "show").mkdir()
    planted = tmp_path / "show" / "x.c"
    planted.write_text('#include "args/args.h"\n#include "get/get.h"\n')
    assert sideways([planted]) == [(planted, "get/get.h")]


# What the command has of the library beside the public headers.
COMMAND_KNOWS = ["lab/checksum.h", "lab/playback.h", "lab/simulate.h",
                 "mesh/node_list.h"]
# Layers of the command, which are checked as those of the library are.
COMMAND_LAYERS = ["circus", "nodes"]


def beyond_public(files):
    """Includes of what a user of the library would not have."""
    found = []
    for path in files:
        for bracket, name in includes(path):
            own = bracket == '"' and any((folder / name).is_file() for folder
                                         in (path.parent, SOURCE / "cli"))
            own = own or "cli" in path.parts and (
                name in COMMAND_KNOWS or name.startswith("command/"))
            system = bracket == "<" and not re.match(r"(curl|libxml|base|os|io|"
                                                     r"ledger|manifest|sched|engine)/",
                                                     name)
            if not own and not system:
                found.append((path, name))
    return found


def test_command_and_examples_stand_on_the_public_headers():
    files = [p for p in c_files("cli", "examples")
             if p.parent.name not in COMMAND_LAYERS]
    assert beyond_public(files) == []


def test_a_command_that_looks_inside_would_be_found(tmp_path):
    planted = tmp_path / "x.c"
    planted.write_text('#include <curl/curl.h>\n#include "base/range.h"\n'
                       "#include <xdownload/error.h>\n")
    assert [n for _, n in beyond_public([planted])] == ["curl/curl.h",
                                                        "base/range.h"]


@pytest.mark.parametrize("layer, allowed, forbidden", [
    ("base", "base/range.h", "os/thread.h"),
    ("os", "base/error.h", "sched/sched.h"),
    ("manifest", "base/range.h", "io/transport.h"),
    ("ledger", "base/range.h", "os/thread.h"),
    ("code", "base/error.h", "os/thread.h"),
    ("circus", "base/rate.h", "os/thread.h"),
    ("nodes", "mesh/mesh.h", "publish/audit_run.h"),
    ("lab", "sim/run.h", "publish/audit_run.h"),
    ("command", "lab/simulate.h", "mesh/mesh.h"),
    ("mesh", "base/url.h", "os/thread.h"),
    ("sched", "ledger/ledger.h", "os/thread.h"),
    ("session", "sched/sched.h", "os/thread.h"),
    ("sim", "session/intake.h", "os/thread.h"),
    ("io", "os/file.h", "sched/sched.h"),
    ("store", "io/hash.h", "os/thread.h"),
    ("transfer", "io/transport.h", "manifest/parse.h"),
    ("engine", "sched/sched.h", "publish/audit_run.h"),
    ("publish", "engine/options.h", None),
])
def test_a_layer_sees_only_what_it_may_use(tmp_path, layer, allowed,
                                           forbidden):
    def compiles(header):
        planted = tmp_path / "x.c"
        planted.write_text(f'#include "{header}"\nextern int x;\n')
        return run(CC, "-std=c11", "-D_POSIX_C_SOURCE=200809L",
                   f"-I{SOURCE}/include", f"-I{BUILD}/view/{layer}",
                   "-fsyntax-only", planted).returncode == 0
    assert compiles(allowed)
    assert forbidden is None or not compiles(forbidden)


HTTP_WORD = re.compile(
    r"\b(HTTP|ETag|Last-Modified|If-Range|Accept-Encoding|Transfer-Encoding|"
    r"Content-(Encoding|Range|Length|Type)|libcurl|curl_\w+|http_status|"
    r"http2)\b|xd_http|io/http|\"https?\\b")

# The row of the transport.
NAMES_HTTP = ["lib/transfer/registry.c", "lib/transfer/registry.h"]


def http_words(files):
    """What only lib/io/http may know."""
    return [(p.name, m.group()) for p in files
            for m in HTTP_WORD.finditer(p.read_text())]


def test_no_word_of_http_above_its_transport():
    files = c_files("lib/sched", "lib/transfer", "lib/engine")
    known = [SOURCE / name for name in NAMES_HTTP]
    assert http_words([p for p in files if p not in known]) == []
    assert all(p in files for p in known)


@pytest.mark.parametrize("line, word", [
    ('#include "io/http/http_redirect.h"', "io/http"),
    ("if (error->http_status == 401)", "http_status"),
    ("/* A strong ETag. */", "ETag"),
    ("xd_http_new(&t, &config, &handler, err);", "xd_http"),
    ("curl_easy_init();", "curl_easy_init"),
])
def test_a_word_of_http_would_be_found(tmp_path, line, word):
    planted = tmp_path / "x.c"
    planted.write_text(line + "\n")
    assert http_words([planted])[0] == ("x.c", word)


# Those who send a URL, or write it where it came from: transports, the model of
# manifests, and inspection, which gives the model what it was given.
SENDS_URLS = ["lib/base/url.h", "lib/base/url.c", "lib/io/http/ftp_request.c",
              "lib/io/http/http_fetch.c", "lib/io/http/http_redirect.c",
              "lib/io/ibp/ibp_wire.c",
              "lib/manifest/edit.c", "lib/manifest/exnode_common.c",
              "lib/manifest/model.c", "lib/manifest/parity.c",
              "lib/manifest/offered.c", "lib/manifest/select.c",
              "lib/manifest/write.c", "lib/manifest/write_metalink4.c",
              "lib/mesh/mesh_parse.c", "lib/mesh/mesh_url.c",
              "lib/engine/api/inspect.c", "lib/store/s3_place.c",
              "lib/store/web.c"]


def url_texts(files):
    """Texts of URLs, with their secrets."""
    return [(p.name, m.group()) for p in files
            for m in re.finditer(r"\b(xd_url_)?secret_text\b", p.read_text())]


def url_strings(files):
    """URLs that are no struct xd_url: strings, but what people may see."""
    return [(p.name, m.group()) for p in files for m in re.finditer(
        r"\bchar \*+(const )?\w*(url|origin|stated_by)\b(?! = xd_url_public)|"
        r"\bxd_strn?dup\([^;]*\burl\b", p.read_text())
            if "shown_url" not in m.group()]


# Where strings enter, or go into the journal, which has what people may see.
NAMES_URLS = ["lib/engine/api/inspect.c", "lib/engine/resume.c",
              "lib/engine/resume.h"]


def test_only_transports_reach_the_secrets_of_a_url():
    sends = [SOURCE / name for name in SENDS_URLS]
    assert url_texts([p for p in c_files("lib") if p not in sends]) == []
    assert all(url_texts([p]) for p in sends)


def test_a_url_travels_as_a_value():
    names = [SOURCE / name for name in NAMES_URLS]
    assert url_strings([p for p in c_files("lib/transfer", "lib/engine")
                        if p not in names]) == []
    assert all(url_strings([p]) for p in names)


@pytest.mark.parametrize("find, line", [
    (url_texts, 'xd_fail(e, XD_E_NET, "%s", url->secret_text);'),
    (url_texts, "puts(xd_url_secret_text(&source->url));"),
    (url_strings, "    const char *url;"),
    (url_strings, "    char *final_url; /* owned */"),
    (url_strings, "s->text = xd_strdup(replica->url);"),
])
def test_a_url_whose_secrets_could_be_printed_would_be_found(tmp_path, find,
                                                             line):
    planted = tmp_path / "x.c"
    planted.write_text(line + "\n")
    assert len(find([planted])) == 1


# ---- systems ----

COMMENT = re.compile(r"/\*.*?\*/", re.S)
ONE_SYSTEM = re.compile(
    r"_GNU_SOURCE|/proc/|__(linux|GLIBC|APPLE|FreeBSD)__|"
    r"<(sys/(epoll|eventfd|inotify|prctl|sendfile|signalfd|sysinfo|sysctl|"
    r"timerfd)|linux/\w+|malloc|features|endian|execinfo|err|error)\.h>|"
    r"\b(accept4|pipe2|dup3|ppoll|eventfd|epoll_\w+|sendfile|posix_fallocate|"
    r"fallocate|syncfs|strchrnul|memrchr|rawmemchr|asprintf|vasprintf|memmem|"
    r"getrandom|secure_getenv|qsort_r|canonicalize_file_name|"
    r"pthread_setname_np|pthread_tryjoin_np|pthread_timedjoin_np)\s*\(")

# Each does without what the system does not have.
KNOWS_SYSTEMS = {"cli/bench/measures.c", "cli/common/installed.c",
                 "cli/common/output.c", "cli/depot/resident.c",
                 "cli/serve/disconnects.c", "lib/io/way.c"}


def of_one_system(files):
    """What not every POSIX system has."""
    return [(str(p.relative_to(SOURCE)) if SOURCE in p.parents else p.name,
             m.group()) for p in files for m in ONE_SYSTEM.finditer(
                 COMMENT.sub("", p.read_text()))]


def test_only_lib_os_knows_which_system_it_is():
    files = [p for p in c_files("lib", "cli", "include")
             if p.parent != SOURCE / "lib" / "os"]
    found = {name for name, _ in of_one_system(files)}
    assert found == KNOWS_SYSTEMS


@pytest.mark.parametrize("line", [
    "#define _GNU_SOURCE", "#ifdef __linux__", "#include <sys/epoll.h>",
    'open("/proc/self/fd", 0);', "fd = accept4(fd, NULL, NULL, 0);"])
def test_what_one_system_has_would_be_found(tmp_path, line):
    planted = tmp_path / "x.c"
    planted.write_text(line + "\n")
    assert len(of_one_system([planted])) == 1


TAG = re.compile(r"^(?:struct|union|enum) (\w+) \{", re.M)


def double_tags(files):
    """Tags of headers, and of the library's prefix, that are defined twice."""
    places = {}
    for p in files:
        for tag in TAG.findall(p.read_text()):
            places.setdefault(tag, []).append(p)
    return {tag: found for tag, found in places.items() if len(found) > 1 and
            (tag.startswith("xd_") or any(p.suffix == ".h" for p in found))}


@pytest.mark.parametrize("folder", ["lib", "cli"])
def test_a_tag_is_one_thing(folder):
    assert double_tags(c_files(folder, "include")) == {}


def test_a_tag_that_is_two_things_would_be_found(tmp_path):
    planted = [tmp_path / name for name in ("a.c", "b.c", "c.h")]
    planted[0].write_text("struct xd_span {\n};\nstruct row {\n};\n")
    planted[1].write_text("struct xd_span {\n};\nstruct row {\n};\n"
                          "enum kind {\n};\n")
    planted[2].write_text("enum kind {\n};\nstruct xd_source;\n")
    assert double_tags(planted) == {"xd_span": planted[:2],
                                    "kind": planted[1:]}


# ---- objects ----

def objects(layer):
    folder = "cli" if layer in COMMAND_LAYERS else "lib"
    found = sorted((BUILD / folder / layer).rglob("*.o"))
    assert found, f"{folder}/{layer} is not built in {BUILD}"
    return found


def names_of_each(files, option):
    """Plain names; _FORTIFY_SOURCE and C standards rename some of libc's."""
    out = run("nm", option, "-A", "--format=posix", *files).stdout
    found = {f: set() for f in files}
    for line in out.splitlines():
        path, name = re.match(r"(.*): (\S+)", line).groups()
        name = re.sub(r"^__(\w+)_chk$", r"\1", name)
        found[Path(path)].add(re.sub(r"^__isoc(99|23)_", "", name))
    return found


def names(files, option):
    return set().union(*names_of_each(files, option).values())


def needed(files, given=()):
    """What the objects need, and neither they nor `given` define."""
    defined = names([*files, *given], "--defined-only")
    return names(files, "--undefined-only") - defined


def allowed(layer):
    lines = (HERE / f"{layer}.allowed").read_text().splitlines()
    return {line.split("#")[0].strip() for line in lines} - {""}


@pytest.mark.plain
@pytest.mark.parametrize("layer, below", [("base", []), ("ledger", ["base"]),
                                          ("code", ["base"]),
                                          ("circus", ["base"]),
                                          ("mesh", ["base"]),
                                          ("sched", ["base", "ledger"]),
                                          ("session", ["base", "ledger", "sched"]),
                                          ("sim", ["base", "ledger", "sched",
                                                   "session"])])
def test_a_pure_layer_needs_nothing_but_the_kept_list(layer, below):
    given = [o for b in below for o in objects(b)]
    assert needed(objects(layer), given) <= allowed(layer)


def compiled(tmp_path, text):
    source, made = tmp_path / "planted.c", tmp_path / "planted.o"
    source.write_text(text)
    assert run(CC, "-c", source, "-o", made).returncode == 0
    return made


def test_a_clock_in_a_pure_layer_would_be_found(tmp_path):
    planted = compiled(tmp_path, "#include <time.h>\nlong now(void);\n"
                                 "long now(void) { return time(0); }\n")
    assert needed([planted]) - allowed("sched") == {"time"}


def mutable_globals(files):
    """Writable data; tables of pointers are read-only once loaded."""
    out = run("nm", "--format=sysv", *files).stdout
    rows = [[c.strip() for c in line.split("|")] for line in out.splitlines()]
    return sorted(r[0] for r in rows if len(r) == 7 and r[2] in "bBdDC"
                  and not r[6].startswith(".data.rel.ro"))


@pytest.mark.plain
def test_the_library_has_no_mutable_globals():
    """But four: around curl_global_init() and xmlInitParser(), the hosts that
    this process asks, and the threads that must end before it exits."""
    files = [o for o in (BUILD / "lib").rglob("*.o")
             if not o.name.startswith(("curl_global.c", "xml_global.c",
                                       "hosts.c", "exit.c"))]
    assert len(files) > 20
    assert mutable_globals(files) == []


def test_mutable_globals_would_be_found(tmp_path):
    planted = compiled(tmp_path, "int xd_calls = 1; static int seen;\n"
                                 "int *f(void); int *f(void) { static int k;\n"
                                 "  seen++; return &k; }\n"
                                 'const char *const fixed[] = {"a"};\n')
    found = [re.sub(r"^f\.|\.\d+$", "", n)  # gcc and clang differ
             for n in mutable_globals([planted])]
    assert found == ["k", "seen", "xd_calls"]


@pytest.mark.plain
def test_what_is_built_is_hardened():
    """Addresses that cannot be guessed, tables that cannot be written."""
    command, library = BUILD / "xdownload", BUILD / "lib" / "libxdownload.so"
    assert "DYN" in run("readelf", "-h", command).stdout
    for binary in (command, library):
        assert "GNU_RELRO" in run("readelf", "-lW", binary).stdout
        assert "NOW" in run("readelf", "-dW", binary).stdout
        assert "__stack_chk_fail" in run("nm", "-D", binary).stdout


@pytest.mark.plain
def test_the_command_looks_for_no_library_of_ours():
    dynamic = run("readelf", "-dW", BUILD / "xdownload").stdout
    assert "NEEDED" in dynamic
    assert not re.search(r"R(UN)?PATH|libxdownload", dynamic), dynamic


# ---- the tree ----

def tracked():
    if not (SOURCE / ".git").exists():
        return [str(p.relative_to(SOURCE)) for p in c_files()]
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    done = run("git", "-c", "safe.directory=*", "-C", SOURCE, "ls-files")
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()


LICENCE = "SPDX-License-Identifier: MIT"


def unlicensed(paths):
    """Source files that do not say under which licence they are, in one of
    their first two lines."""
    def is_source(path):
        return not path.startswith(("tests/data/", "tests/fuzz/corpus/")) and (
            path.endswith((".c", ".h", ".def", ".py", ".pl", ".sh", ".cmake",
                           ".in", ".css", ".js", "CMakeLists.txt", ".ci/run")))
    return [p for p in paths if is_source(p) and LICENCE not in "".join(
        (SOURCE / p).read_text().splitlines()[:2])]


def test_each_source_file_names_its_licence():
    assert unlicensed(tracked()) == []
    assert "MIT License" in (SOURCE / "LICENSE").read_text()


def test_a_source_file_without_a_licence_would_be_found(tmp_path):
    for name, text in [("a.c", "/* x */\n"), ("b.h", f"/* {LICENCE} */\n"),
                       ("c.sh", f"#!/bin/sh\n# {LICENCE}\n"), ("d.svg", "")]:
        (tmp_path / name).write_text(text)
    assert unlicensed([str(tmp_path / n) for n in os.listdir(tmp_path)]) == [
        str(tmp_path / "a.c")]


def litter(paths):
    return [p for p in paths if re.search(
        r"(^|/)(build[^/]*/|__pycache__/|core(\.\d+)?$)"
        r"|\.(o|a|so|pyc|gcda|gcno|orig|rej|part)$", p)]


def test_no_build_product_is_kept():
    assert litter(tracked()) == []


def test_a_build_product_would_be_found():
    assert litter(["lib/a.c", "build/x", "lib/a.o", "t/__pycache__/x.pyc"]) \
        == ["build/x", "lib/a.o", "t/__pycache__/x.pyc"]


def test_the_top_level_holds_what_it_is_meant_to():
    top = {p.split("/")[0] for p in tracked()}
    assert {t for t in top if not t.startswith(".")} <= {
        "lib", "cli", "include", "tests", "examples", "CMakeLists.txt",
        "CMakePresets.json", "README.md", "LICENSE"}


def test_nothing_is_left_to_be_done():
    assert [p for p in c_files("lib", "cli", "include", "examples")
            if re.search(r"\b(TODO|FIXME|XXX)\b", p.read_text())] == []


# ---- documents ----

def test_the_lines_in_the_readme_are_of_a_program_that_is_compiled():
    readme = (SOURCE / "README.md").read_text()
    [block] = re.findall(r"(?s)```c\n(.*?)```", readme)
    assert block.count("\n") > 5
    assert "\n" + block in (SOURCE / "examples" / "fetch.c").read_text()


DOCUMENTS = sorted(str(p.relative_to(SOURCE))
                   for top in ("lib", "cli", "tests", "examples")
                   for p in (SOURCE / top).rglob("README.md")) + ["README.md"]
PATH = re.compile(r"`((?:lib|cli|include|tests|examples)/[\w./-]*)`")
LINK = re.compile(r"\]\(([\w./-]+)\)")


def missing_paths(name, text):
    """Paths from the top of the tree, and links from where a document is."""
    links = [(SOURCE / name).parent / p for p in LINK.findall(text)]
    paths = [SOURCE / p for p in PATH.findall(text) if "NAME" not in p]
    return [str(p) for p in links + paths if not p.exists()]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_path_in_a_document_is_there(name):
    assert missing_paths(name, (SOURCE / name).read_text()) == []


def test_a_path_that_is_not_there_would_be_found():
    assert len(DOCUMENTS) > 6
    assert missing_paths("lib/README.md", "`lib/README.md` `lib/NAME.c` "
                         "[a](README.md) [b](https://a.example/x)") == []
    assert missing_paths("lib/README.md", "`lib/none.c`") != []
    assert missing_paths("lib/README.md", "[a](lib/README.md)") != []


def missing_files(folder, text):
    """Names in the first column of tables of files which match no file."""
    tables = re.findall(r"(?m)^\| (?:folder, )?files \|.*\n((?:\|.*\n)*)", text)
    cells = re.findall(r"(?m)^\|([^|]*)\|", "".join(tables))
    names = [n for cell in cells for n in re.findall(r"`([\w./*]+)`", cell)]
    return [n for n in names if not any(
        list(folder.glob(n + end)) for end in ("", ".c", ".h"))]


@pytest.mark.parametrize("name", [d for d in DOCUMENTS if d.startswith("lib/")])
def test_table_of_files_names_only_files_that_exist(name):
    path = SOURCE / name
    assert missing_files(path.parent, path.read_text()) == []


def test_missing_file_in_a_table_is_found(tmp_path):
    (tmp_path / "here.c").write_text("")
    table = "| files | purpose |\n| --- | --- |\n| `here`, `there*` | x |\n"
    assert missing_files(tmp_path, table) == ["there*"]


def unknown_functions(text, files):
    """Functions that a document names, and no file has."""
    code = "\n".join(COMMENT.sub("", p.read_text()) for p in files)
    known = set(re.findall(r"\b(\w+)\(|\(\*(\w+)\)\(", code))
    return [name for name in re.findall(r"`(\w+)\(\)`", text)
            if (name, "") not in known and ("", name) not in known]


def test_readme_of_library_names_only_functions_that_exist():
    readmes = [SOURCE / d for d in DOCUMENTS if d.startswith("lib/")]
    text = (SOURCE / "lib/README.md").read_text()
    life = text.split("\n## The life of a byte\n")[1].split("\n## ")[0]
    assert life.count("()`") > 30 and len(readmes) > 10
    assert unknown_functions("\n".join(r.read_text() for r in readmes),
                             c_files("lib", "include")) == []


def test_a_function_that_is_not_there_would_be_found(tmp_path):
    planted = tmp_path / "x.h"
    planted.write_text("/* told() */ int xd_a(void);\n"
                       "struct ops { int (*poll)(int); };\n")
    assert unknown_functions("`xd_a()`, `poll()`, `told()`, `xd_b()`, xd_c()",
                             [planted]) == ["told", "xd_b"]
