# SPDX-License-Identifier: MIT
"""What pages of other sites can have a browser do with serve and depot."""
import contextlib
import http.server
import threading

import pytest
from browser import Browser, need_chromium
from lab import wait_until
from served import Served

SIZE = 3 << 20


@contextlib.contextmanager
def listening(answer):
    """The port of a server on loopback; answer(path, headers) returns a status,
    headers and a body."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, headers, body = answer(self.path, self.headers)
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # it has seen enough
                self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def watched(served):
    """(the port of a proxy before it, the statuses of its answers)."""
    statuses = []

    def pass_on(path, headers):
        answer, body = served.ask(path, **{k: v for k, v in headers.items()
                                           if k.lower() != "connection"})
        statuses.append(answer.status)
        return answer.status, {
            k: v for k, v in answer.headers.items()
            if k.lower() not in ("connection", "transfer-encoding")}, body

    with listening(pass_on) as port:
        yield port, statuses


@pytest.fixture(name="browser")
def open_browser(lab):
    need_chromium()
    browser = Browser(lab.folder / "browser")
    yield browser
    browser.close()


ELEMENTS = [
    '<video autoplay src="{}"></video>',
    '<audio autoplay src="{}"></audio>',
    '<img src="{}">',
    '<script src="{}"></script>',
    '<iframe src="{}"></iframe>',
    '<object type="text/html" data="{}"></object>',
    '<link rel="stylesheet" href="{}">',
    '<video crossorigin autoplay src="{}"></video>',
    '<script>fetch("{}", {{mode: "no-cors"}})</script>',
    '<script>location = "{}"</script>',
]


def statuses_of(browser, served, element, host):
    """What a browser is answered that shows a page of `host` with that element."""
    path = served.address()[2]
    with watched(served) as (port, statuses):
        page = "<!DOCTYPE html><body>" + \
            element.format(f"http://127.0.0.1:{port}{path}")

        def answer(path, _):
            return 200, {"Content-Type": "text/html"}, \
                page.encode() if path == "/" else b""
        with listening(answer) as other:
            browser.call("Page.navigate", url=f"http://{host}:{other}/")
            wait_until(lambda: statuses, f"{element} asks")
            browser.call("Page.navigate", url="about:blank")
    return set(statuses)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_no_page_of_another_site_makes_serve_work(lab, browser, host):
    """Another port of the same host is another origin of the same site."""
    lab.file("f.bin", SIZE)
    depot = lab.odd(lambda head: b"")
    served = Served(lab, lab.exnode("f.bin", [depot], SIZE))
    served.url()
    before = len(depot.heads)
    for element in ELEMENTS:
        assert statuses_of(browser, served, element, host) == {403}, element
    assert len(depot.heads) == before


def test_no_page_of_another_site_makes_depot_work(lab, browser):
    lab.file("f.bin", SIZE)
    served = Served(lab, str(lab.www), command="depot")
    served.urls.append(served.url() + "f.bin")
    served.urls.pop(0)
    for element in ELEMENTS:
        assert statuses_of(browser, served, element, "localhost") == {403}, \
            element


def test_a_page_that_is_allowed_may_play(lab, browser):
    lab.file("f.bin", SIZE)
    served = Served(lab, "--allow-origin", "*",
                    lab.exnode("f.bin", lab.depots(1)))
    served.url()
    for element in ELEMENTS[0], ELEMENTS[7]:
        assert statuses_of(browser, served, element, "localhost") <= {200, 206}


def test_an_address_that_the_user_types_is_answered(lab, browser):
    lab.file("f.bin", SIZE)
    served = Served(lab, lab.exnode("f.bin", lab.depots(1)))
    page = served.url().partition("/1/")[0] + "/"
    browser.open(page)
    wait_until(lambda: browser.text("#live") == "live", "events come")
    assert browser.console == []
