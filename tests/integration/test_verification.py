# SPDX-License-Identifier: MIT
"""No byte is believed that the manifest can prove wrong."""
import hashlib
import itertools

import pytest

from lab import bytes_of

SIZE = 3_000_003
PIECE = 256 << 10
ALGORITHMS = ["basic", "aggressive", "progress"]


def spoiled(data, every=400_000):
    """The same size, one bit of each `every` bytes another."""
    bad = bytearray(data)
    for i in range(1000, len(bad), every):
        bad[i] ^= 1
    return bytes(bad)


def metalink(lab, name, data, depots, pieces=None, whole=True):
    """A Metalink with a hash of the whole, or of pieces of that length."""
    text = [f'<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
            f'<file name="{name}"><size>{len(data)}</size>']
    if whole:
        text.append(f'<hash type="sha-256">{hashlib.sha256(data).hexdigest()}'
                    '</hash>')
    if pieces:
        text.append(f'<pieces type="sha-256" length="{pieces}">')
        text += [f"<hash>{hashlib.sha256(data[i:i + pieces]).hexdigest()}"
                 "</hash>" for i in range(0, len(data), pieces)]
        text.append("</pieces>")
    text += [f"<url>{d.url(name)}</url>" for d in depots]
    text.append("</file></metalink>")
    return lab.write("verified.meta4", "".join(text))


def blamed(run):
    return {d["host"] for d in run.report["depots"]
            if d["error"] and "wrong bytes" in d["error"]}


def test_the_report_says_what_proved_the_file(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(2)
    run = lab.xdownload(metalink(lab, "f.bin", data, depots, PIECE), "-o", "a")
    assert run.report["verified"] == "sha-256"
    run = lab.xdownload(metalink(lab, "f.bin", data, depots), "-o", "b")
    assert run.report["verified"] == "sha-256"
    run = lab.xdownload(metalink(lab, "f.bin", data, depots, whole=False),
                        "-o", "c")
    assert run.report["verified"] is None


@pytest.mark.parametrize("to", ["f.bin", "-"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_liar_among_honest_depots_is_named_and_left(lab, algorithm, to):
    data = lab.file("f.bin", SIZE)
    liar = lab.depot(files={"f.bin": spoiled(data)})
    manifest = metalink(lab, "f.bin", data, [liar, *lab.depots(2)], PIECE)
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "64k", "-o", to)
    assert run.rc == 0, run.err
    assert (run.out if to == "-" else lab.read(to)) == data
    assert blamed(run) <= {liar.host}
    assert run.report["verified"] == "sha-256"


@pytest.mark.parametrize("block", ["64k", "256k", "1m"])
def test_of_two_depots_that_share_a_piece_the_liar_is_found_out(lab, block):
    data = lab.file("f.bin", SIZE)
    liar = lab.depot(files={"f.bin": spoiled(data, 1000)})
    manifest = metalink(lab, "f.bin", data, [liar, lab.depot()], PIECE)
    run = lab.xdownload(manifest, "-a", "basic", "-b", block)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert blamed(run) == {liar.host}


@pytest.mark.parametrize("pieces, lies, reason", [
    (PIECE, True, "bad_pieces"), (None, True, "bad_file"),
    (PIECE, False, None)])
def test_it_is_said_how_much_was_discarded_and_why(lab, pieces, lies, reason):
    data = lab.file("f.bin", SIZE)
    first = lab.depot(files={"f.bin": spoiled(data, 1000) if lies else data})
    second = lab.depot(rate=4_000_000)  # the first has the time to lie
    manifest = metalink(lab, "f.bin", data, [first, second], pieces)
    run = lab.xdownload(manifest, "-v", "-a", "basic", "-b", "64k")
    assert run.rc == 0, run.err
    discarded = run.report["bytes_discarded"]
    assert set(discarded) == {"bad_pieces", "bad_file", "banned", "changed",
                              "restarted"}
    assert {why for why, n in discarded.items() if n} - {"banned"} == (
        {reason} if reason else set())
    assert ("discarded: " in run.err) == bool(reason)
    if reason == "bad_pieces":
        assert "bytes are discarded, from byte " in run.err
        assert "since their piece did not match its hash" in run.err


def test_what_a_new_beginning_discards_is_told(lab):
    """The size is not known, and the fetch breaks off."""
    data = lab.file("f.bin", SIZE)
    came = len(data) // 2
    answers = itertools.count(1)

    def answer(_):
        # The first ones are to the questions for the size.
        cut = next(answers) <= 3
        body = data[:came] if cut else data
        return (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                b"Connection: close\r\n\r\n%x\r\n%b\r\n%b"
                % (len(body), body, b"" if cut else b"0\r\n\r\n"))

    run = lab.xdownload("-v", lab.odd(answer).url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    discarded = run.report["bytes_discarded"]
    assert discarded == {"bad_pieces": 0, "bad_file": 0, "banned": 0,
                         "changed": 0, "restarted": came}
    assert "since the file was fetched from its beginning" in run.err


def test_when_all_lie_the_status_is_4_and_the_part_stays(lab):
    data = lab.file("f.bin", SIZE)
    liars = lab.depots(2, files={"f.bin": spoiled(data, 1000)})
    run = lab.xdownload(metalink(lab, "f.bin", data, liars, PIECE))
    assert run.rc == 4
    assert "sha-256" in run.err
    assert not (lab.work / "f.bin").exists()
    assert (lab.work / "f.bin.part").exists()


@pytest.mark.parametrize("n_honest", [1, 3])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_hash_of_the_whole_is_enough_to_find_the_liar(lab, algorithm,
                                                          n_honest):
    data = lab.file("f.bin", SIZE)
    liar = lab.depot(files={"f.bin": spoiled(data, 1000)})
    manifest = metalink(lab, "f.bin", data, [liar, *lab.depots(n_honest)])
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert blamed(run) <= {liar.host}
    assert run.report["verified"] == "sha-256"
    assert sorted(p.name for p in lab.work.glob("f.bin*")) == ["f.bin"]


def test_one_liar_costs_at_most_one_more_file(lab):
    data = lab.file("f.bin", SIZE)
    liar = lab.depot(files={"f.bin": spoiled(data, 1000)})
    honest = lab.depots(3)
    manifest = metalink(lab, "f.bin", data, [liar, *honest])
    run = lab.xdownload(manifest, "-a", "basic", "-b", "64k")
    assert run.rc == 0, run.err
    assert blamed(run) == {liar.host}
    sent = sum(d.bytes_sent() for d in [liar, *honest])
    # A vote ends the requests of a round; each may have sent most of a block.
    assert sent <= 2 * SIZE + 4 * (64 << 10)


def test_who_is_outvoted_is_suspected_before_who_gave_less(lab):
    size = 2 * SIZE
    data = lab.file("f.bin", size)
    liar = lab.depot(files={"f.bin": spoiled(data, 1000)}, rate=4_000_000)
    honest = lab.depots(4, rate=2_000_000)
    manifest = metalink(lab, "f.bin", data, [liar, *honest])
    run = lab.xdownload(manifest)
    assert run.rc == 0, run.err
    assert blamed(run) == {liar.host}
    assert lab.read("f.bin") == data
    sent = sum(d["bytes"] for d in run.report["depots"])
    assert sent < 1.8 * size


def test_two_liars_of_three_lose_to_the_honest(lab):
    data = lab.file("f.bin", SIZE)
    liars = lab.depots(2, files={"f.bin": spoiled(data, 1000)})
    manifest = metalink(lab, "f.bin", data, [*liars, lab.depot()])
    run = lab.xdownload(manifest, "-a", "basic", "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_a_liar_who_alone_holds_its_part_cannot_be_replaced(lab):
    data = lab.file("f.bin", SIZE)
    bad = spoiled(data, 1000)
    half = SIZE // 2
    liar = lab.depot(files={"f.bin": bad})
    manifest = lab.exnode_of("f.bin", [
        (0, half, liar.url("f.bin"), 0, SIZE),
        (half, SIZE - half, lab.depot().url("f.bin"), half, SIZE)])
    text = (lab.work / manifest).read_text()
    digest = hashlib.sha256(data).hexdigest()
    text = text.replace("<exnode:mapping>",
                        '<exnode:metadata name="sha256" type="string">'
                        f"{digest}</exnode:metadata><exnode:mapping>", 1)
    run = lab.xdownload(lab.write("halves.xnd", text), "-b", "64k")
    assert run.rc == 4
    assert not (lab.work / "f.bin").exists()


def test_a_wrong_whole_is_never_given_its_name(lab):
    data = lab.file("f.bin", SIZE)
    liar = lab.depot(files={"f.bin": spoiled(data)})
    run = lab.xdownload(metalink(lab, "f.bin", data, [liar]))
    assert run.rc == 4
    assert not (lab.work / "f.bin").exists()


def test_a_pipe_does_not_get_the_last_bytes_of_a_wrong_whole(lab):
    data = lab.file("f.bin", SIZE)
    bad = spoiled(data)
    run = lab.xdownload(metalink(lab, "f.bin", data,
                                 [lab.depot(files={"f.bin": bad})]), "-o", "-")
    assert run.rc == 4
    assert 0 < len(run.out) < SIZE and bad.startswith(run.out)


def test_mappings_of_an_exnode_are_held_against_their_sha256(lab):
    data = lab.file("f.bin", SIZE)
    half = SIZE // 2
    liar = lab.depot(files={"f.bin": spoiled(data)})
    honest = lab.depot()
    mappings = "".join(
        "<exnode:mapping>"
        f'<exnode:metadata name="exnode_offset" type="integer">{a}'
        "</exnode:metadata>"
        f'<exnode:metadata name="logical_length" type="integer">{b - a}'
        "</exnode:metadata>"
        f'<exnode:metadata name="alloc_offset" type="integer">{a}'
        "</exnode:metadata>"
        '<exnode:metadata name="sha256" type="string">'
        f"{hashlib.sha256(data[a:b]).hexdigest()}</exnode:metadata>"
        f"<exnode:read>{d.url('f.bin')}</exnode:read></exnode:mapping>"
        for a, b in [(0, half), (half, SIZE)] for d in (liar, honest))
    manifest = lab.write(
        "hashed.xnd",
        '<exnode xmlns:exnode="http://loci.cs.utk.edu/exnode">'
        '<exnode:metadata name="filename" type="string">f.bin'
        f"</exnode:metadata>{mappings}</exnode>")
    run = lab.xdownload(manifest, "-a", "basic", "-b", "100k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert blamed(run) == {liar.host}
    assert run.report["verified"] == "sha-256"


def test_one_liar_costs_at_most_a_piece_and_what_was_in_flight(lab):
    data = lab.file("f.bin", 8 << 20)
    liar = lab.depot(files={"f.bin": spoiled(data, 1000)})
    manifest = metalink(lab, "f.bin", data, [liar, *lab.depots(2)], PIECE)
    run = lab.xdownload(manifest, "-a", "basic", "-b", "256k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert liar.bytes_sent() <= 4 * PIECE


def test_a_range_is_verified_by_the_pieces_inside_it(lab):
    data = lab.file("f.bin", SIZE)
    liar = lab.depot(files={"f.bin": spoiled(data, 1000)})
    manifest = metalink(lab, "f.bin", data, [liar, lab.depot()], PIECE)
    first, last = 100, 4 * PIECE + 99
    run = lab.xdownload(manifest, "-a", "basic", "-b", "64k", "-r",
                        f"{first}-{last}", "-o", "r")
    assert run.rc == 0, run.err
    whole = slice(PIECE - first, 4 * PIECE - first)
    assert lab.read("r")[whole] == data[first:last + 1][whole]


def test_bytes_of_another_seed_never_pass(lab):
    data = lab.file("f.bin", SIZE)
    other = lab.depot(files={"f.bin": bytes_of(SIZE, seed=2)})
    run = lab.xdownload(metalink(lab, "f.bin", data, [other, lab.depot()],
                                 PIECE))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
