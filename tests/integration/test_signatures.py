# SPDX-License-Identifier: MIT
"""--keyring and --public-key: signatures of files, and of lists of checksums.

Keys are made for the test, OpenPGP's with gpg, in a folder of their own."""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from lab import wait_until

SIZE = 1_200_003
NAME = "film.bin"
LONG_AGO = "20200101T000000!"


class Gpg:
    """A folder of keys; `ring` is what a user would have of them."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def run(self, *args, data=None, at=None):
        when = ["--faked-system-time", at] if at else []
        return subprocess.run(
            ["gpg", "--batch", "--yes", "--quiet", "--pinentry-mode",
             "loopback", "--passphrase", "", *when, *args], input=data,
            env={**os.environ, "GNUPGHOME": str(self.folder)}, check=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout

    def key(self, name, expires="never", at=None):
        self.run("--quick-gen-key", f"{name} <{name}@depot.example>", "ed25519",
                 "sign", expires, at=at)
        return name

    def fingerprint(self, name):
        out = self.run("--with-colons", "--list-keys", f"<{name}@depot.example>").decode()
        return re.search(r"^fpr:+([0-9A-F]{40}):", out, re.M).group(1)

    def ring(self, *names, armor=False):
        path = self.folder / f"{'-'.join(names)}.{'asc' if armor else 'gpg'}"
        path.write_bytes(self.run(*["--armor"] * armor, "--export",
                                  *(f"<{n}@depot.example>" for n in names)))
        return str(path)

    def sign(self, name, data, *how, at=None):
        return self.run("--local-user", f"<{name}@depot.example>", *how, "--output", "-",
                        "--detach-sign", "-", data=data, at=at)

    def clearsign(self, name, text, at=None):
        return self.run("--local-user", f"<{name}@depot.example>", "--output", "-",
                        "--clearsign", "-", data=text.encode(), at=at).decode()

    def revoke(self, name):
        fingerprint = self.fingerprint(name)
        path = self.folder / "openpgp-revocs.d" / f"{fingerprint}.rev"
        self.run("--import", data=path.read_text().replace(":---", "---")
                 .encode())


@pytest.fixture(scope="module")
def gpg():
    folder = tempfile.mkdtemp(prefix="xd-gpg-", dir="/tmp")
    g = Gpg(folder)
    for name in "ann", "ben":
        g.key(name)
    yield g
    subprocess.run(["gpgconf", "--kill", "all"],
                   env={**os.environ, "GNUPGHOME": folder}, check=False)
    shutil.rmtree(folder, ignore_errors=True)


def put(lab, name, data):
    """Beside the files of the depots, and here: its path."""
    (lab.www / name).write_bytes(data)
    path = lab.folder / name
    path.write_bytes(data)
    return str(path)


def refused(lab, run, words, status=4):
    assert run.rc == status, run
    assert words in run.err
    assert not lab.path(NAME).exists()
    assert not run.reports or run.report.get("signed_by") is None


# ---- the file's own, by OpenPGP ----

@pytest.mark.parametrize("armored", [False, True])
@pytest.mark.parametrize("at_url", [False, True])
def test_a_signature_is_verified_before_the_file_has_its_name(
        lab, gpg, armored, at_url):
    data = lab.file(NAME, SIZE)
    depots = lab.depots(2)
    path = put(lab, "film.sig",
               gpg.sign("ann", data, *["--armor"] * armored))
    run = lab.xdownload(
        "--keyring", gpg.ring("ann", armor=armored), "--signature",
        depots[0].url("film.sig") if at_url else path,
        *(d.url(NAME) for d in depots))
    assert run.rc == 0, run
    assert lab.read(NAME) == data
    signer = f"OpenPGP key {gpg.fingerprint('ann')}"
    assert run.report["signed_by"] == signer
    assert f"signed by {signer}" in run.err
    assert not list(Path("/tmp").glob("xdownload-??????/signature"))


def test_a_keyring_of_several_keys_knows_the_right_one(lab, gpg):
    data = lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.sign("ben", data))
    run = lab.xdownload("--keyring", gpg.ring("ann", "ben"), "--signature", sig,
                        lab.depot().url(NAME))
    assert run.rc == 0, run
    assert run.report["signed_by"].endswith(gpg.fingerprint("ben"))


def test_the_signature_of_another_file_is_refused(lab, gpg):
    lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.sign("ann", b"another file"))
    depot = lab.depot()
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--signature", sig,
                        depot.url(NAME))
    refused(lab, run, "it is not the signature of this file")


def test_a_key_that_is_not_in_the_keyring_does_not_count(lab, gpg):
    data = lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.sign("ann", data))
    run = lab.xdownload("--keyring", gpg.ring("ben"), "--signature", sig,
                        lab.depot().url(NAME))
    refused(lab, run, "not in the keyring")


@pytest.mark.parametrize("known", ["ann", "ben"])
def test_one_good_signature_of_two_is_enough(lab, gpg, known):
    data = lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.sign("ann", data) + gpg.sign("ben", data))
    run = lab.xdownload("--keyring", gpg.ring(known), "--signature", sig,
                        lab.depot().url(NAME))
    assert run.rc == 0, run
    assert lab.read(NAME) == data
    assert run.report["signed_by"].endswith(gpg.fingerprint(known))


def test_one_bad_signature_of_two_is_too_much(lab, gpg):
    data = lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.sign("ann", data) + gpg.sign("ann", b"x"))
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--signature", sig,
                        lab.depot().url(NAME))
    refused(lab, run, "it is not the signature of this file")


def test_an_expired_key_is_refused(lab, gpg):
    data = lab.file(NAME, SIZE)
    gpg.key("old", "2d", at=LONG_AGO)
    sig = put(lab, "film.sig", gpg.sign("old", data, at=LONG_AGO))
    run = lab.xdownload("--keyring", gpg.ring("old"), "--signature", sig,
                        lab.depot().url(NAME))
    refused(lab, run, "the key that signed it has expired")


def test_an_expired_signature_is_refused(lab, gpg):
    data = lab.file(NAME, SIZE)
    gpg.key("eve", at=LONG_AGO)
    sig = put(lab, "film.sig",
              gpg.sign("eve", data, "--default-sig-expire", "2d", at=LONG_AGO))
    run = lab.xdownload("--keyring", gpg.ring("eve"), "--signature", sig,
                        lab.depot().url(NAME))
    refused(lab, run, "the signature has expired")


def test_a_revoked_key_is_refused(lab, gpg):
    data = lab.file(NAME, SIZE)
    gpg.key("rob")
    sig = put(lab, "film.sig", gpg.sign("rob", data))
    gpg.revoke("rob")
    run = lab.xdownload("--keyring", gpg.ring("rob"), "--signature", sig,
                        lab.depot().url(NAME))
    refused(lab, run, "was revoked")


@pytest.mark.parametrize("spoil, words", [
    (lambda s: s[:40], "no signature that can be verified"),
    (lambda s: b"", "empty"),
    (lambda s: b"<html>", "no signature that can be verified"),
    (lambda s: s * 10_000, "longer than 64 KiB"),
], ids=["cut", "empty", "a-page", "huge"])
@pytest.mark.parametrize("at_url", [False, True])
def test_what_is_no_signature_is_refused(lab, gpg, spoil, words, at_url):
    data = lab.file(NAME, SIZE)
    path = put(lab, "film.sig", spoil(gpg.sign("ann", data)))
    depot = lab.depot()
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--signature",
                        depot.url("film.sig") if at_url else path,
                        depot.url(NAME))
    refused(lab, run, words)


def test_a_text_that_signs_itself_is_no_signature_of_the_file(lab, gpg):
    lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.clearsign("ann", "hello\n").encode())
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--signature", sig,
                        lab.depot().url(NAME))
    refused(lab, run, "no signature that can be verified")


def test_a_signature_that_is_not_there_is_missing(lab, gpg):
    lab.file(NAME, SIZE)
    depot = lab.depot()
    for missing in depot.url("no.sig"), "no.sig":
        run = lab.xdownload("--keyring", gpg.ring("ann"), "--signature",
                            missing, depot.url(NAME))
        refused(lab, run, "the signature is missing")


def test_a_file_that_nothing_signs_is_not_fetched(lab, gpg):
    data = lab.file(NAME, SIZE)
    depot = lab.depot()
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--checksum",
                        hashlib.sha256(data).hexdigest(), depot.url(NAME))
    refused(lab, run, "is not signed")
    assert not Path(f"{lab.path(NAME)}.part").exists()


def test_without_gpgv_nothing_is_verified(lab, gpg):
    data = lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.sign("ann", data))
    empty = lab.folder / "empty"
    empty.mkdir()
    lab.environment["PATH"] = str(empty)
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--signature", sig,
                        lab.depot().url(NAME))
    refused(lab, run, "gpgv cannot be run: is it installed?", status=5)


@pytest.mark.parametrize("content", [None, b"", b"no keys at all",
                                     b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n"])
def test_a_keyring_that_is_none_is_said(lab, gpg, content):
    data = lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.sign("ann", data))
    ring = lab.folder / "ring.gpg"
    if content is not None:
        ring.write_bytes(content)
    run = lab.xdownload("--keyring", str(ring), "--signature", sig,
                        lab.depot().url(NAME))
    assert run.rc in (4, 5), run
    assert not lab.path(NAME).exists()


def fake_gpgv(lab, script):
    folder = lab.folder / "bin"
    folder.mkdir()
    program = folder / "gpgv"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    lab.environment["PATH"] = f"{folder}:{os.environ['PATH']}"


def test_a_gpgv_that_hangs_is_ended_with_the_download(lab, gpg):
    data = lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.sign("ann", data))
    mark = lab.folder / "pid"
    fake_gpgv(lab, f"echo $$ > {mark}; exec sleep 1000")
    process = lab.start("--keyring", gpg.ring("ann"), "--signature", sig,
                        lab.depot().url(NAME))
    wait_until(lambda: mark.exists() and mark.read_text().strip(),
               "gpgv was not run")
    process.send(2)
    run = process.wait()
    assert run.rc == 130 or run.rc == 6, run
    assert not lab.path(NAME).exists()
    assert not Path(f"/proc/{mark.read_text().strip()}").exists()


@pytest.mark.parametrize("says", [
    "",
    "[GNUPG:] VALIDSIG 00 2026-01-01 1 0 4 0 22 8 00 00",
    "[GNUPG:] GOODSIG 00 x",
    "[GNUPG:] GOODSIG 00 x\\n[GNUPG:] VALIDSIG 00\\n[GNUPG:] BADSIG 00 x",
], ids=["nothing", "no-good", "no-valid", "one-bad"])
def test_gpgv_must_say_that_a_signature_is_valid(lab, gpg, says):
    data = lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.sign("ann", data))
    fake_gpgv(lab, f"printf '{says}\\n' >&3")
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--signature", sig,
                        lab.depot().url(NAME))
    refused(lab, run, "the signature does not hold")


def test_gpgv_sees_nothing_of_the_users_environment(lab, gpg):
    data = lab.file(NAME, SIZE)
    sig = put(lab, "film.sig", gpg.sign("ann", data))
    seen = lab.folder / "seen"
    fake_gpgv(lab, f"(/usr/bin/env; echo \"$*\") > {seen}")
    lab.environment["GNUPGHOME"] = "/elsewhere"
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--signature", sig,
                        lab.depot().url(NAME))
    assert run.rc == 4, run
    text = seen.read_text()
    assert "LC_ALL=C" in text and "GNUPGHOME" not in text
    assert "HOME=" not in text
    assert re.search(r"--homedir /tmp/xdownload-\w{6} ", text)


# ---- what is there already ----

def test_a_wrong_file_is_verified_again_when_it_is_gone_on_with(lab, gpg):
    data = lab.file(NAME, SIZE)
    depot = lab.depot()
    bad = put(lab, "bad.sig", gpg.sign("ann", b"x"))
    good = put(lab, "good.sig", gpg.sign("ann", data))
    ring = gpg.ring("ann")
    assert lab.xdownload("--keyring", ring, "--signature", bad,
                         depot.url(NAME)).rc == 4
    run = lab.xdownload("--keyring", ring, "--signature", good, depot.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run


def test_a_file_that_is_there_is_held_against_its_signature(lab, gpg):
    data = lab.file(NAME, SIZE)
    depot = lab.depot()
    sig = put(lab, "film.sig", gpg.sign("ann", data))
    ring = gpg.ring("ann")
    lab.path(NAME).write_bytes(data)
    run = lab.xdownload("--keyring", ring, "--signature", sig, depot.url(NAME))
    assert run.rc == 0 and "its signature verified" in run.err, run
    verify = ["verify", "--keyring", ring, "--signature", sig,
              lab.write("urls", depot.url(NAME)), str(lab.path(NAME))]
    assert lab.xdownload(*verify, report=False).rc == 0
    lab.path(NAME).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    run = lab.xdownload("--keyring", ring, "--signature", sig, depot.url(NAME))
    assert run.rc == 4 and "not the signature" in run.err, run
    assert lab.xdownload(*verify, report=False).rc == 4


# ---- a pipe ----

def test_a_pipe_gets_the_end_only_when_the_signature_holds(lab, gpg):
    data = lab.file(NAME, SIZE)
    depot = lab.depot()
    out = lab.folder / "out"
    good = put(lab, "good.sig", gpg.sign("ann", data))
    bad = put(lab, "bad.sig", gpg.sign("ann", b"x"))
    for sig, rc in (good, 0), (bad, 4):
        with out.open("wb") as to:
            run = lab.xdownload("--keyring", gpg.ring("ann"), "--signature",
                                sig, "-o", "-", depot.url(NAME), stdout=to)
        assert run.rc == rc, run
        received = out.read_bytes()
        assert received == (data if rc == 0 else data[:len(received)])
        assert (len(received) == len(data)) == (rc == 0)


# ---- Metalinks ----

def signed_metalink(lab, depots, data, signature,
                    kind="application/pgp-signature"):
    urls = "".join(f"<url>{d.url(NAME)}</url>" for d in depots)
    return lab.write("signed.meta4", (
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
        f'<file name="{NAME}"><size>{len(data)}</size>'
        f'<signature mediatype="{kind}">{signature}</signature>'
        f"{urls}</file></metalink>"))


def metalink3(lab, depots, data, signature, kind="pgp"):
    urls = "".join(f'<url type="http">{d.url(NAME)}</url>' for d in depots)
    return lab.write("signed.metalink", (
        '<metalink version="3.0" xmlns="http://www.metalinker.org/"><files>'
        f'<file name="{NAME}"><size>{len(data)}</size><verification>'
        f'<signature type="{kind}">{signature}</signature></verification>'
        f"<resources>{urls}</resources></file></files></metalink>"))


@pytest.mark.parametrize("written", [signed_metalink, metalink3])
def test_the_signature_of_a_metalink_is_verified(lab, gpg, written):
    data = lab.file(NAME, SIZE)
    depots = lab.depots(2)
    good = gpg.sign("ann", data, "--armor").decode()
    bad = gpg.sign("ann", b"x", "--armor").decode()
    ring = gpg.ring("ann")
    run = lab.xdownload("--keyring", ring, written(lab, depots, data, bad))
    refused(lab, run, "not the signature of this file")
    run = lab.xdownload("--keyring", ring, "--no-continue",
                        written(lab, depots, data, good))
    assert run.rc == 0 and lab.read(NAME) == data, run
    assert run.report["signed_by"].startswith("OpenPGP key ")
    lab.path(NAME).unlink()
    run = lab.xdownload(written(lab, depots, data, bad))
    assert run.rc == 0 and run.report["signed_by"] is None, run


def test_a_signature_of_another_kind_is_none(lab, gpg):
    data = lab.file(NAME, SIZE)
    good = gpg.sign("ann", data, "--armor").decode()
    run = lab.xdownload("--keyring", gpg.ring("ann"), signed_metalink(
        lab, lab.depots(1), data, good, "application/x-other"))
    refused(lab, run, "is not signed")


def test_a_signature_is_written_into_a_metalink_again(lab, gpg):
    data = lab.file(NAME, SIZE)
    good = gpg.sign("ann", data, "--armor").decode()
    first = signed_metalink(lab, lab.depots(1), data, good)
    run = lab.xdownload("show", "--format", "metalink", "-o", "again.meta4",
                        first, report=False)
    assert run.rc == 0, run
    run = lab.xdownload("--keyring", gpg.ring("ann"), "again.meta4")
    assert run.rc == 0 and run.report["signed_by"], run


# ---- lists of checksums ----

def sums(files, algorithm="sha256"):
    return "".join(f"{hashlib.new(algorithm, data).hexdigest()}  {name}\n"
                   for name, data in files.items())


def test_a_list_signed_inline_proves_its_files(lab, gpg):
    data = lab.file(NAME, SIZE)
    depot = lab.depot()
    text = gpg.clearsign("ann", sums({NAME: data}))
    path = put(lab, "SHA256SUMS.asc", text.encode())
    for source in path, depot.url("SHA256SUMS.asc"):
        run = lab.xdownload("--keyring", gpg.ring("ann"), "--checksum", source,
                            depot.url(NAME))
        assert run.rc == 0 and lab.read(NAME) == data, run
        assert run.report["signed_by"].endswith(gpg.fingerprint("ann"))
        assert run.report["verified"] == "sha-256"
        lab.path(NAME).unlink()


def test_text_around_an_inline_signature_does_not_count(lab, gpg):
    data = lab.file(NAME, SIZE)
    lab.file("other.bin", 10)
    depot = lab.depot()
    signed = gpg.clearsign("ann", sums({"other.bin": b"other"}))
    line = sums({NAME: data})
    for text in line + signed, signed + line, line + "\n" + signed + "\n" + line:
        path = put(lab, "SHA256SUMS", text.encode())
        run = lab.xdownload("--keyring", gpg.ring("ann"), "--checksum", path,
                            depot.url(NAME))
        assert run.rc == 3 and not lab.path(NAME).exists(), run
        assert f"checksum of {NAME}" in run.err


def test_a_list_that_was_changed_is_refused(lab, gpg):
    data = lab.file(NAME, SIZE)
    text = gpg.clearsign("ann", sums({NAME: b"x"}))
    text = text.replace(hashlib.sha256(b"x").hexdigest(),
                        hashlib.sha256(data).hexdigest())
    path = put(lab, "SHA256SUMS", text.encode())
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--checksum", path,
                        lab.depot().url(NAME))
    refused(lab, run, "the signature does not hold")


def test_a_list_with_its_signature_beside_it(lab, gpg):
    data = lab.file(NAME, SIZE)
    depot = lab.depot()
    text = sums({NAME: data}).encode()
    path = put(lab, "SHA256SUMS", text)
    for armored in False, True:
        sig = put(lab, "SHA256SUMS.gpg",
                  gpg.sign("ann", text, *["--armor"] * armored))
        run = lab.xdownload("--keyring", gpg.ring("ann"), "--checksum", path,
                            "--signature", sig, depot.url(NAME))
        assert run.rc == 0 and lab.read(NAME) == data, run
        lab.path(NAME).unlink()
    sig = put(lab, "SHA256SUMS.gpg", gpg.sign("ann", text + b"\n"))
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--checksum", path,
                        "--signature", sig, depot.url(NAME))
    refused(lab, run, "not the signature")


def test_a_list_without_a_signature_is_refused(lab, gpg):
    data = lab.file(NAME, SIZE)
    path = put(lab, "SHA256SUMS", sums({NAME: data}).encode())
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--checksum", path,
                        lab.depot().url(NAME))
    refused(lab, run, "the signature does not hold")


def test_a_signed_list_of_weak_hashes_signs_nothing(lab, gpg):
    data = lab.file(NAME, SIZE)
    path = put(lab, "MD5SUMS",
               gpg.clearsign("ann", sums({NAME: data}, "md5")).encode())
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--checksum", path,
                        lab.depot().url(NAME))
    refused(lab, run, "is not signed")


def test_files_of_a_signed_list_come_as_a_set(lab, gpg):
    files = {f"f{i}.bin": lab.file(f"f{i}.bin", 1000 + i) for i in range(5)}
    depot = lab.depot()
    path = put(lab, "SHA256SUMS", gpg.clearsign("ann", sums(files)).encode())
    urls = lab.write("list", "".join(depot.url(n) + "\n" for n in files))
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--checksum", path, "-i",
                        urls)
    assert run.rc == 0, run
    assert all(lab.read(n) == data for n, data in files.items())
    rows = [r for r in run.reports if r["file"]]
    assert len(rows) == len(files)
    assert all(r["signed_by"].endswith(gpg.fingerprint("ann")) for r in rows)
    path = put(lab, "SHA256SUMS", sums(files).encode())
    for n in files:
        lab.path(n).unlink()
    run = lab.xdownload("--keyring", gpg.ring("ann"), "--checksum", path, "-i",
                        urls)
    assert run.rc == 4 and not any(lab.path(n).exists() for n in files), run


# ---- minisign ----

class Minisign:
    """A key pair; signatures as minisign's files have them."""

    def __init__(self, folder, key_id=b"\x01\x02\x03\x04\x05\x06\x07\x08"):
        self.folder, self.id = Path(folder), key_id
        self.secret = self.folder / f"{key_id.hex()}.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out",
                        self.secret], check=True, capture_output=True)
        public = subprocess.run(
            ["openssl", "pkey", "-in", self.secret, "-pubout", "-outform",
             "DER"], check=True, capture_output=True).stdout[-32:]
        self.public = base64.b64encode(b"Ed" + key_id + public).decode()
        self.file = self.folder / f"{key_id.hex()}.pub"
        self.file.write_text(f"untrusted comment: a key\n{self.public}\n")

    def raw(self, message):
        path = self.folder / "message"
        path.write_bytes(message)
        return subprocess.run(
            ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.secret,
             "-in", path], check=True, capture_output=True).stdout

    def sign(self, data, hashed=True, comment="timestamp:1\tfile:x"):
        message = hashlib.blake2b(data).digest() if hashed else data
        signature = self.raw(message)
        both = self.raw(signature + comment.encode())
        head = base64.b64encode((b"ED" if hashed else b"Ed") + self.id
                                + signature).decode()
        return (f"untrusted comment: whatever\n{head}\n"
                f"trusted comment: {comment}\n"
                f"{base64.b64encode(both).decode()}\n")


@pytest.fixture
def minisign(lab):
    return Minisign(lab.folder)


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("as_file", [True, False])
def test_a_signature_of_minisign_is_verified(lab, minisign, hashed, as_file):
    data = lab.file(NAME, SIZE)
    sig = put(lab, "film.minisig", minisign.sign(data, hashed).encode())
    run = lab.xdownload(
        "--public-key", str(minisign.file) if as_file else minisign.public,
        "--signature", sig, lab.depot().url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run
    assert run.report["signed_by"] == "minisign key 0807060504030201"


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("spoil, words", [
    (lambda m, d, h: m.sign(d + b"x", h), "not the signature of this file"),
    (lambda m, d, h: m.sign(d, h).replace("file:x", "file:y"),
     "not the signature of this file"),
    (lambda m, d, h: m.sign(d, h)[:90], "no signature of minisign"),
    (lambda m, d, h: m.sign(d, h) + "more\n", "no signature of minisign"),
    (lambda m, d, h: Minisign(m.folder, b"\x09" * 8).sign(d, h), "another key"),
    (lambda m, d, h: Minisign(m.folder / "other").sign(d, h),
     "not the signature of this file"),
], ids=["other-file", "comment", "cut", "more", "other-key", "forged-id"])
def test_a_wrong_signature_of_minisign_is_refused(lab, minisign, hashed, spoil,
                                                  words):
    data = lab.file(NAME, SIZE)
    (minisign.folder / "other").mkdir()
    sig = put(lab, "film.minisig", spoil(minisign, data, hashed).encode())
    run = lab.xdownload("--public-key", minisign.public, "--signature", sig,
                        lab.depot().url(NAME))
    refused(lab, run, words)


def test_a_list_is_signed_with_minisign(lab, minisign):
    data = lab.file(NAME, SIZE)
    text = sums({NAME: data}).encode()
    path = put(lab, "SHA256SUMS", text)
    sig = put(lab, "SHA256SUMS.minisig", minisign.sign(text).encode())
    depot = lab.depot()
    run = lab.xdownload("--public-key", minisign.public, "--checksum", path,
                        "--signature", sig, depot.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run
    lab.path(NAME).unlink()
    run = lab.xdownload("--public-key", minisign.public, "--checksum", path,
                        depot.url(NAME))
    refused(lab, run, "beside the text")


def test_a_key_of_the_other_kind_does_not_help(lab, gpg, minisign):
    data = lab.file(NAME, SIZE)
    depot = lab.depot()
    for key, sig in (["--keyring", gpg.ring("ann")],
                     minisign.sign(data).encode()), \
                    (["--public-key", minisign.public], gpg.sign("ann", data)):
        path = put(lab, "film.sig", sig)
        run = lab.xdownload(*key, "--signature", path, depot.url(NAME))
        refused(lab, run, "was given")


# ---- what does not go together ----

@pytest.mark.parametrize("args", [
    ["--signature", "x.sig", "URL"],
    ["--keyring", "k", "--signature", "x.sig", "--checksum", "a.sums",
     "--checksum", "b.sums", "URL"],
    ["--keyring", "k", "--signature", "x.sig", "-i", "list"],
    ["--keyring", "k", "--signature", "x.sig", "-r", "0-9", "URL"],
    ["play", "--keyring", "k", "URL"],
], ids=["no-key", "two-lists", "a-list", "a-part", "play"])
def test_what_does_not_go_together_is_said(lab, args):
    lab.file(NAME, 1000)
    depot = lab.depot()
    lab.write("list", depot.url(NAME))
    for name in "k", "x.sig", "a.sums", "b.sums":
        lab.write(name, "x")
    run = lab.xdownload(*(depot.url(NAME) if a == "URL" else a for a in args),
                        report="play" not in args)
    assert run.rc == 2, run
