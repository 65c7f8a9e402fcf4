# SPDX-License-Identifier: MIT
"""--checksum: hashes that stand beside the manifest, or where there is none."""
import hashlib
import json

import pytest

from test_resume import interrupt

SIZE = 3_000_003
NAME = "live-40.iso"


def digest(algorithm, data):
    return hashlib.new(algorithm, data).hexdigest()


def wrong(hex_digits):
    """Another hash of the same length."""
    return ("0" if hex_digits[0] != "0" else "1") + hex_digits[1:]


def spoiled(data):
    """The same size, a bit of each 50 kB another."""
    bad = bytearray(data)
    for i in range(1000, len(bad), 50_000):
        bad[i] ^= 1
    return bytes(bad)


def metalink(lab, data, depots, hashes=(), pieces=None):
    """hashes: (type, hex) of the whole; pieces: (length, those of what)."""
    text = [f'<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
            f'<file name="{NAME}"><size>{len(data)}</size>']
    text += [f'<hash type="{t}">{h}</hash>' for t, h in hashes]
    if pieces:
        length, of = pieces
        text.append(f'<pieces type="sha-256" length="{length}">')
        text += [f"<hash>{digest('sha256', of[i:i + length])}</hash>"
                 for i in range(0, len(of), length)]
        text.append("</pieces>")
    text += [f"<url>{d.url(NAME)}</url>" for d in depots]
    text.append("</file></metalink>")
    return lab.write("hashed.meta4", "".join(text))


# ---- the files of distributions ----

def ubuntu(h):
    return f"{wrong(h('sha256'))} *live-server-40.iso\n{h('sha256')} *{NAME}\n"


def debian(h):
    return f"{h('sha512')}  {NAME}\n{wrong(h('sha512'))}  {NAME}.list\n"


def debian_folders(h):
    return (f"{wrong(h('md5'))}  ./dists/other.iso\n"
            f"{h('md5')}  ./images/{NAME}\n")


def fedora(h):
    return ("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n"
            f"# {NAME}: {SIZE} bytes\nSHA256 ({NAME}) = {h('sha256')}\n"
            f"# net-40.iso: 1 bytes\nSHA256 (net-40.iso) = {'0' * 64}\n"
            "-----BEGIN PGP SIGNATURE-----\n\niQIzBAEBCAAdFiEE6PI5lvIyGGQMtEy+\n"
            "=xkY2\n-----END PGP SIGNATURE-----\n")


def freebsd(h):
    return (f"SHA512 (bootonly.iso) = {'0' * 128}\n"
            f"SHA512 ({NAME}) = {h('sha512')}\n")


def openbsd(h):
    return ("untrusted comment: verify with base.pub\n"
            "RWRoyQmAD08ajTqgzK3UcWaVlwaJMckH9/CshU8Md5pN1GoIrcBdTF+c\n"
            f"SHA256 (BUILDINFO) = {'0' * 64}\nSHA256 ({NAME}) = {h('sha256')}\n")


def slackware(h):
    return ("These are the MD5 message digests.  If you want to test your files,"
            f"\nuse md5sum:\n\n{h('md5')}  ./iso/{NAME}\n")


def alpine(h):
    return f"{h('sha256')}  {NAME}\n"


def maven(h):
    return h("sha1")


def openssl(h):
    return f"SHA2-256({NAME})= {h('sha256')}\n"


def windows(h):
    return f"\ufeff{h('sha256').upper()} *{NAME}\r\n"


SHAPES = [(ubuntu, "sha-256"), (debian, "sha-512"), (debian_folders, "md5"),
          (fedora, "sha-256"), (freebsd, "sha-512"), (openbsd, "sha-256"),
          (slackware, "md5"), (alpine, "sha-256"), (maven, "sha-1"),
          (openssl, "sha-256"), (windows, "sha-256")]


@pytest.mark.parametrize("shape, algorithm", SHAPES,
                         ids=[s.__name__ for s, _ in SHAPES])
def test_the_checksum_is_found_in_what_distributions_publish(lab, shape,
                                                             algorithm):
    data = lab.file(NAME, SIZE)
    url = lab.depot().url(NAME)
    good = lab.write("GOOD", shape(lambda a: digest(a, data)))
    run = lab.xdownload("--checksum", good, url)
    assert run.rc == 0, run.err
    assert run.report["verified"] == algorithm
    bad = lab.write("BAD", shape(lambda a: wrong(digest(a, data))))
    run = lab.xdownload("--checksum", bad, "-o", "other", url)
    assert run.rc == 4
    assert not lab.path("other").exists()


# ---- a URL and a checksum are as good as a Metalink ----

@pytest.mark.parametrize("form", ["sha-256={}", "sha256:{}", "SHA-256:{}"])
def test_a_value_verifies_what_a_url_leads_to(lab, form):
    data = lab.file(NAME, SIZE)
    checksum = form.format(digest("sha256", data))
    run = lab.xdownload("--checksum", checksum, lab.depot().url(NAME))
    assert run.rc == 0, run.err
    assert run.report["verified"] == "sha-256"
    assert run.report["verified_is_weak"] is False
    assert "weak" not in run.err


def test_the_checksums_may_lie_at_a_url(lab):
    data = lab.file(NAME, SIZE)
    depot = lab.depot()
    (lab.www / "SHA256SUMS").write_text(ubuntu(lambda a: digest(a, data)))
    run = lab.xdownload("--checksum", depot.url("SHA256SUMS"), depot.url(NAME))
    assert run.rc == 0, run.err
    assert run.report["verified"] == "sha-256"


@pytest.mark.parametrize("algorithm", ["basic", "aggressive", "progress"])
def test_what_a_liar_sent_comes_from_the_others(lab, algorithm):
    data = lab.file(NAME, SIZE)
    liar = lab.depot(files={NAME: spoiled(data)})
    run = lab.xdownload("-a", algorithm, "-b", "100k", "--checksum",
                        f"sha-256={digest('sha256', data)}",
                        *(d.url(NAME)
                          for d in [liar, *lab.depots(2, rate=2_000_000)]))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == data
    blamed = [d["host"] for d in run.report["depots"]
              if d["error"] and "wrong bytes" in d["error"]]
    assert blamed == [liar.host]
    assert run.report["verified"] == "sha-256"


def test_a_list_of_urls_without_a_size_is_verified_and_repaired(lab):
    data = lab.file(NAME, SIZE)
    liar = lab.depot(files={NAME: spoiled(data)})
    run = lab.xdownload("-a", "basic", "-b", "100k", "--checksum",
                        f"sha-256={digest('sha256', data)}",
                        lab.urls(NAME, [liar, *lab.depots(2)]))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == data


@pytest.mark.parametrize("is_right", [True, False])
def test_a_pipe_is_verified_by_its_end(lab, is_right):
    data = lab.file(NAME, SIZE)
    given = digest("sha256", data)
    run = lab.xdownload("--checksum",
                        f"sha-256={given if is_right else wrong(given)}",
                        "-o", "-", lab.depot().url(NAME))
    assert run.rc == (0 if is_right else 4)
    if is_right:
        assert run.out == data
    else:  # the last bytes wait for the hash
        assert len(run.out) < SIZE and data.startswith(run.out)


# ---- nothing is fetched where words contradict each other ----

def assert_nothing_was_fetched(run, status, depots, words):
    assert run.rc == status, run.err
    assert words in run.err
    assert not list(run_files(run))
    for depot in depots:
        assert [r for r in depot.requests() if NAME in r["uri"]] == []


def run_files(run):
    return [r["file"] for r in run.reports if r["file"]]


def test_a_checksum_that_contradicts_the_manifest_is_status_3(lab):
    data = lab.file(NAME, SIZE)
    depots = lab.depots(2)
    known = digest("sha256", data)
    run = lab.xdownload("--checksum", f"sha-256={wrong(known)}",
                        metalink(lab, data, depots, [("sha-256", known)]))
    assert_nothing_was_fetched(run, 3, depots, known)
    assert run.report["outcome"] == "failed"
    assert known in run.report["error"]


def test_two_checksums_that_contradict_each_other_are_status_3(lab):
    data = lab.file(NAME, SIZE)
    depots = lab.depots(2)
    known = digest("sha256", data)
    sums = lab.write("SUMS", f"{wrong(known)}  {NAME}\n")
    run = lab.xdownload("--checksum", f"sha-256={known}", "--checksum", sums,
                        metalink(lab, data, depots))
    assert_nothing_was_fetched(run, 3, depots, wrong(known))


def test_two_values_that_contradict_each_other_are_status_3(lab):
    data = lab.file(NAME, SIZE)
    depots = lab.depots(2)
    known = digest("sha256", data)
    run = lab.xdownload("--checksum", f"sha-256={known}", "--checksum",
                        f"sha256:{wrong(known)}", depots[0].url(NAME),
                        depots[1].url(NAME))
    assert_nothing_was_fetched(run, 3, depots, "two values of sha-256")


def test_a_file_that_the_checksums_do_not_know_is_status_3(lab):
    data = lab.file(NAME, SIZE)
    depots = lab.depots(2)
    sums = lab.write("SUMS", f"{digest('sha256', data)}  other.iso\n")
    run = lab.xdownload("--checksum", sums, metalink(lab, data, depots))
    assert_nothing_was_fetched(
        run, 3, depots, f"SUMS: no MD5, SHA-1 or SHA-2 checksum of {NAME}")
    assert len(run.err.splitlines()) == 1


def test_what_has_no_checksum_in_it_is_status_3(lab):
    data = lab.file(NAME, SIZE)
    depots = lab.depots(1)
    sums = lab.write("SUMS", "<html>Not found</html>\n")
    run = lab.xdownload("--checksum", sums, metalink(lab, data, depots))
    assert_nothing_was_fetched(run, 3, depots, "SUMS: no line of it")


def test_checksums_that_cannot_be_had_end_it(lab):
    data = lab.file(NAME, SIZE)
    depots = lab.depots(1)
    manifest = metalink(lab, data, depots)
    run = lab.xdownload("--checksum", depots[0].url("SUMS"), manifest)
    assert_nothing_was_fetched(run, 1, depots, "answered 404")
    run = lab.xdownload("--checksum", "NO-SUCH-FILE", manifest)
    assert_nothing_was_fetched(run, 5, depots, "NO-SUCH-FILE")


def test_checksums_without_an_end_are_not_taken_in(lab):
    def endless(_):
        return b"HTTP/1.1 200 OK\r\n\r\n" + b"x\n" * (33 << 20)
    data = lab.file(NAME, SIZE)
    depots = lab.depots(1)
    run = lab.xdownload("--checksum", lab.odd(endless).url("SUMS"),
                        metalink(lab, data, depots))
    assert_nothing_was_fetched(run, 3, depots,
                               "longer than 64 MiB, the limit for manifests and")


@pytest.mark.parametrize("arguments, words", [
    (["--checksum", "sha-256=abc"], "'abc' is no sha-256"),
    (["--checksum", "crc32c=00000000"], "crc32c cannot be computed"),
    (["--checksum", ""], "an empty one"),
    (["--checksum", "md5=" + "0" * 32, "-r", "0-9"], "use either --range or --checksum"),
    (["--checksum", "md5=" + "0" * 32, "again.meta4"], "2 manifests"),
])
def test_a_checksum_that_makes_no_sense_is_wrong_usage(lab, arguments, words):
    data = lab.file(NAME, SIZE)
    depots = lab.depots(1)
    run = lab.xdownload(metalink(lab, data, depots), *arguments)
    assert_nothing_was_fetched(run, 2, depots, words)


# ---- the manifest has less to say than the person ----

@pytest.mark.parametrize("algorithm", ["sha-256", "sha-1", "md5"])
def test_a_forged_manifest_does_not_outdo_the_checksum(lab, algorithm):
    data = lab.file(NAME, SIZE)
    forged = spoiled(data)
    depots = lab.depots(2, files={NAME: forged})
    manifest = metalink(lab, data, depots,
                        [("sha-512", digest("sha512", forged))],
                        (256 << 10, forged))
    given = digest(algorithm.replace("-", ""), data)
    run = lab.xdownload("--checksum", f"{algorithm}={given}", manifest)
    assert run.rc == 4
    assert f"{algorithm} " in run.err and given in run.err
    assert not lab.path(NAME).exists()
    assert run.report["verified"] is None
    lab.path(NAME).write_bytes(forged)
    verified = lab.xdownload("verify", "--checksum", f"{algorithm}={given}",
                             manifest, lab.path(NAME), report=False)
    assert verified.rc == 4


def test_all_checksums_that_are_given_are_compared(lab):
    data = lab.file(NAME, SIZE)
    url = lab.depot().url(NAME)
    right = [f"sha-512={digest('sha512', data)}",
             f"sha-256={digest('sha256', data)}", f"md5={digest('md5', data)}"]
    run = lab.xdownload(url, *(x for c in right for x in ("--checksum", c)))
    assert run.rc == 0, run.err
    assert run.report["verified"] == "sha-512"
    bad = [*right[:2], f"md5={wrong(digest('md5', data))}"]
    run = lab.xdownload(url, "-o", "bad",
                        *(x for c in bad for x in ("--checksum", c)))
    assert run.rc == 4
    assert "md5 mismatch for bad: expected " in run.err


# ---- of several files ----

def test_each_file_of_a_manifest_has_its_own_checksum(lab):
    a, b = lab.file("a.bin", 200_000), lab.file("b.bin", 300_000, seed=2)
    depots = lab.depots(2)
    urls = [lab.urls(name, depots) for name in ("a.bin", "b.bin")]
    sums = lab.write("SUMS", f"{digest('sha256', b)}  b.bin\n"
                             f"{digest('sha256', a)}  a.bin\n")
    run = lab.xdownload("--checksum", sums, *urls)
    assert run.rc == 0, run.err
    assert [r["verified"] for r in run.reports] == ["sha-256"] * 2


def test_a_value_is_of_the_file_that_is_named(lab):
    lab.file("a.bin", 200_000)
    b = lab.file("b.bin", 300_000, seed=2)
    depots = lab.depots(1)
    manifest = lab.metalink_of([("a.bin", depots, None),
                                ("b.bin", depots, None)])
    given = f"sha-512={digest('sha512', b)}"
    run = lab.xdownload("--checksum", given, manifest)
    assert run.rc == 2
    assert "describes 2" in run.err
    run = lab.xdownload("--checksum", given, "--file", "b.bin", manifest)
    assert run.rc == 0, run.err
    assert run.report["verified"] == "sha-512"


# ---- a file that is there, and one that is shown ----

def test_a_file_that_is_there_is_held_against_the_checksum(lab):
    data = lab.file(NAME, SIZE)
    depot = lab.depot()
    checksum = ("--checksum", f"sha-256={digest('sha256', data)}")
    assert lab.xdownload(*checksum, depot.url(NAME)).rc == 0
    before = len(depot.requests())
    run = lab.xdownload(*checksum, lab.urls(NAME, [depot]))
    assert run.rc == 0
    assert "already complete, verified with sha-256" in run.err
    assert len(depot.requests()) == before
    lab.path(NAME).write_bytes(spoiled(data))
    run = lab.xdownload(*checksum, lab.urls(NAME, [depot]))
    assert run.rc == 5
    assert (f"differs: expected sha-256 {digest('sha256', data)}, got "
            f"{digest('sha256', spoiled(data))}: --force replaces") in run.err


def test_all_of_the_longest_hash_has_room(lab):
    data = lab.file(NAME, SIZE)
    lab.path(NAME).write_bytes(spoiled(data))
    run = lab.xdownload("--checksum", "sha-512=" + digest("sha512", data),
                        lab.depot().url(NAME))
    assert run.rc == 5
    assert f"got {digest('sha512', spoiled(data))}: --force" in run.err


def test_verify_and_its_repair_go_by_the_checksum(lab):
    data = lab.file(NAME, SIZE)
    manifest = metalink(lab, data, lab.depots(1))
    checksum = ("--checksum", f"sha-256={digest('sha256', data)}")
    lab.path("f").write_bytes(spoiled(data))
    run = lab.xdownload("verify", *checksum, manifest, "f", report=False)
    assert run.rc == 4
    wrong = digest("sha256", spoiled(data))
    assert (f"sha-256 mismatch for f: expected {digest('sha256', data)}, got "
            f"{wrong}: --repair fetches what is wrong") in run.err
    run = lab.xdownload("verify", "--repair", *checksum, manifest, "f",
                        report=False)
    assert run.rc == 0, run.err
    assert lab.read("f") == data
    run = lab.xdownload("verify", *checksum, manifest, "f", report=False)
    assert run.rc == 0
    assert "verified with sha-256" in run.err


def test_show_has_the_checksum_among_the_hashes(lab):
    data = lab.file(NAME, SIZE)
    url = lab.depot().url(NAME)
    known = digest("sha256", data)
    sums = lab.write("SUMS", f"{known}  {NAME}\n")
    run = lab.xdownload("show", "--json", "--checksum", sums, url, report=False)
    assert json.loads(run.out)["files"][0]["hashes"] == {"sha-256": known}
    run = lab.xdownload("show", "--format", "metalink", "--checksum", sums,
                        "-o", "made.meta4", url, report=False)
    assert run.rc == 0, run.err
    run = lab.xdownload("made.meta4")
    assert run.rc == 0, run.err
    assert run.report["verified"] == "sha-256"


# ---- weak ones ----

@pytest.mark.parametrize("algorithm", ["sha-1", "md5"])
def test_a_weak_hash_is_used_and_said_to_be_weak(lab, algorithm):
    data = lab.file(NAME, SIZE)
    known = digest(algorithm.replace("-", ""), data)
    manifest = metalink(lab, data, lab.depots(1), [(algorithm, known)])
    run = lab.xdownload(manifest)
    assert run.rc == 0, run.err
    assert f"no better checksum than {algorithm}, which is weak" in run.err
    assert f"verified with {algorithm}, which is weak" in run.err
    assert run.report["verified"] == algorithm
    assert run.report["verified_is_weak"] is True
    run = lab.xdownload(manifest)
    assert f"already complete, verified with {algorithm}, which is weak" \
        in run.err


def test_a_weak_hash_beside_a_better_one_is_not_mentioned(lab):
    data = lab.file(NAME, SIZE)
    manifest = metalink(lab, data, lab.depots(1),
                        [("md5", wrong(digest("md5", data))),
                         ("sha-256", digest("sha256", data))])
    run = lab.xdownload(manifest)
    assert run.rc == 0, run.err
    assert run.report["verified"] == "sha-256"
    assert "weak" not in run.err


def test_a_weak_one_that_is_given_leaves_the_better_one_in_force(lab):
    data = lab.file(NAME, SIZE)
    depots = lab.depots(1, files={NAME: spoiled(data)})
    manifest = metalink(lab, data, depots,
                        [("sha-256", digest("sha256", data))])
    checksum = f"md5={digest('md5', spoiled(data))}"
    run = lab.xdownload("--checksum", checksum, manifest)
    assert run.rc == 4
    assert "weak" not in run.err


def test_that_nothing_was_verified_is_not_weak(lab):
    data = lab.file(NAME, SIZE)
    run = lab.xdownload(metalink(lab, data, lab.depots(1)))
    assert run.report["verified"] is None
    assert run.report["verified_is_weak"] is None


# ---- going on ----

def test_a_run_goes_on_with_another_checksum_and_that_decides(lab):
    data = lab.file(NAME, SIZE)
    url = lab.depot(rate=1_000_000).url(NAME)
    known = digest("sha256", data)
    interrupt(lab, "--checksum", f"sha-256={known}", url, at=SIZE // 3,
              name=NAME)
    run = lab.xdownload("--checksum", f"sha-256={wrong(known)}", url)
    assert run.rc == 4, run.err
    assert not lab.path(NAME).exists()
    run = lab.xdownload("--checksum", f"sha-256={known}", url)
    assert run.rc == 0, run.err
    assert lab.read(NAME) == data
    assert run.report["bytes_resumed"] > 0


def test_a_stronger_hash_of_the_manifest_does_not_hide_another_checksum(lab):
    data = lab.file(NAME, SIZE)
    manifest = metalink(lab, data, [lab.depot(rate=1_000_000)],
                        [("sha-512", digest("sha512", data))])
    known = digest("sha256", data)
    interrupt(lab, "--checksum", f"sha-256={known}", manifest, at=SIZE // 3,
              name=NAME)
    run = lab.xdownload("--checksum", f"sha-256={wrong(known)}", manifest)
    assert run.rc == 4, run.err
    assert "its sha-256" in run.err and not lab.path(NAME).exists()


# ---- credentials ----

def test_the_server_of_the_checksums_may_see_the_credentials(lab):
    data = lab.file(NAME, SIZE)
    sums = f"{digest('sha256', data)}  {NAME}\n".encode()
    server = lab.odd(lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: "
                     b"%d\r\n\r\n%s" % (len(sums), sums))
    stranger = lab.odd(lambda _: b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
                       b"Location: %s\r\n\r\n" % server.url("S").encode())
    run = lab.xdownload("-u", "me:secret", "--checksum", server.url("SUMS"),
                        metalink(lab, data, lab.depots(1)))
    assert run.rc == 0, run.err
    assert "authorization:" in server.heads[0].lower()
    assert "secret" not in run.err
    run = lab.xdownload("-u", "me:secret", "--force", "--checksum",
                        stranger.url("SUMS"),
                        metalink(lab, data, lab.depots(1)))
    assert run.rc == 0, run.err
    assert "authorization:" in stranger.heads[0].lower()
    assert "authorization:" not in server.heads[1].lower()
