#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A store of S3, for tests: it keeps objects in memory, verifies every signature
as "Authenticating Requests (AWS Signature Version 4)" of the API reference of S3
says, and misbehaves where it is told to.  Reading needs a signature only if it is
private.

    with S3Depot(slow=2) as depot:
        ...  --s3-endpoint depot.endpoint ... depot.objects["bkt/key"]
"""
import calendar
import hashlib
import hmac
import re
import threading
import time
import urllib.parse
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ACCESS_KEY = "AKIDEXAMPLE"
SECRET_KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
MOST_SKEW = 900
SHUTDOWN = 0.01  # seconds in which it is noticed


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def encode(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-._~")


class Refused(Exception):
    def __init__(self, status, code, more=""):
        super().__init__(code)
        self.status, self.code, self.more = status, code, more


class Unanswered(Exception):
    """The client gets no answer, and waits until it has had enough."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # an answer is written in two parts

    def log_message(self, *_):
        pass

    @property
    def depot(self):
        return self.server.depot

    # ---- signatures ----

    def canonical(self, names, payload):
        path, _, query = self.path.partition("?")
        pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
        pairs = "&".join(sorted(f"{encode(k)}={encode(v)}" for k, v in pairs))
        lines = [f"{n}:{' '.join(self.headers[n].split())}\n" for n in names]
        return "\n".join([self.command, path, pairs, "".join(lines),
                          ";".join(names), payload])

    def verify_query(self, query):
        """A URL that was presigned."""
        pairs = [p for p in self.path.partition("?")[2].split("&")
                 if not p.startswith("X-Amz-Signature=")]
        access, day, region, *_ = query["X-Amz-Credential"].split("/")
        date, signature = query["X-Amz-Date"], query["X-Amz-Signature"]
        at = calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%SZ"))
        if not at - MOST_SKEW <= self.depot.now() <= at + int(
                query["X-Amz-Expires"]):
            raise Refused(403, "AccessDenied")
        if access != ACCESS_KEY or region != self.depot.region:
            raise Refused(403, "InvalidAccessKeyId")
        if query.get("X-Amz-Security-Token") != self.depot.token:
            raise Refused(400, "ExpiredToken")
        assert query["X-Amz-SignedHeaders"] == "host"
        text = "\n".join([
            self.command, self.path.partition("?")[0], "&".join(sorted(pairs)),
            f"host:{self.headers['Host']}\n", "host", "UNSIGNED-PAYLOAD"])
        text = "\n".join([
            "AWS4-HMAC-SHA256", date, f"{day}/{region}/s3/aws4_request",
            hashlib.sha256(text.encode()).hexdigest()])
        key = mac(b"AWS4" + SECRET_KEY.encode(), day)
        for part in (region, "s3", "aws4_request"):
            key = mac(key, part)
        if not hmac.compare_digest(mac(key, text).hex(), signature):
            raise Refused(403, "SignatureDoesNotMatch")

    def verify(self, body):
        said = self.headers.get("Authorization")
        if said is None:
            raise Refused(403, "AccessDenied")
        found = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/"
            r"aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w{64})", said)
        if found is None:
            raise Refused(400, "AuthorizationHeaderMalformed")
        access, day, region, names, signature = found.groups()
        date = self.headers["x-amz-date"]
        payload = self.headers["x-amz-content-sha256"]
        if access != ACCESS_KEY:
            raise Refused(403, "InvalidAccessKeyId")
        if region != self.depot.region:
            raise Refused(400, "AuthorizationHeaderMalformed",
                          f"<Region>{self.depot.region}</Region>")
        at = calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%SZ"))
        if abs(at - self.depot.now()) > MOST_SKEW:
            raise Refused(403, "RequestTimeTooSkewed")
        names = names.split(";")
        assert names == sorted(names) and "host" in names
        for name in self.headers:
            if name.lower().startswith("x-amz-"):
                assert name.lower() in names, name
        if self.headers.get("x-amz-security-token") != self.depot.token:
            raise Refused(400, "ExpiredToken")
        text = "\n".join([
            "AWS4-HMAC-SHA256", date, f"{day}/{region}/s3/aws4_request",
            hashlib.sha256(self.canonical(names, payload).encode())
            .hexdigest()])
        key = mac(b"AWS4" + SECRET_KEY.encode(), day)
        for part in (region, "s3", "aws4_request"):
            key = mac(key, part)
        if not hmac.compare_digest(mac(key, text).hex(), signature):
            raise Refused(403, "SignatureDoesNotMatch")
        if hashlib.sha256(body).hexdigest() != payload:
            raise Refused(400, "XAmzContentSHA256Mismatch")

    # ---- requests ----

    def answer(self, status, body=b"", **fields):
        self.send_response(status)
        fields.setdefault("Content_Length", len(body))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def date_time_string(self, timestamp=None):
        return formatdate(self.depot.now(), usegmt=True)

    def serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        path, _, query = self.path.partition("?")
        name = urllib.parse.unquote(path[1:], errors="surrogateescape")
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        host = self.headers["Host"].partition(".")
        if host[0] == self.depot.bucket:  # the bucket is in the host's name
            name = f"{self.depot.bucket}/{name}"
        with self.depot.lock:
            self.depot.requests.append(f"{self.command} {self.path}")
            try:
                if "X-Amz-Signature" in query:
                    self.verify_query(query)
                elif (self.command != "GET" or self.depot.is_private
                      or "Authorization" in self.headers):
                    self.verify(body)
                if not f"{name}/".startswith(f"{self.depot.bucket}/"):
                    raise Refused(404, "NoSuchBucket")
                getattr(self, f"on_{self.command}")(name, query, body)
            except Refused as e:
                self.answer(e.status, (
                    f"<?xml version='1.0'?>\n<Error><Code>{e.code}</Code>"
                    f"{e.more}<Message>no</Message></Error>").encode())
                return
            except Unanswered:
                pass
            else:
                return
        self.rfile.read(1)
        self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = serve

    def on_HEAD(self, name, query, body):
        if name not in self.depot.objects:
            raise Refused(404, "NoSuchKey")
        self.answer(200, ETag='"e"',
                    Content_Length=len(self.depot.objects[name]))

    def list_uploads(self, query):
        if self.depot.refuses_lists:
            raise Refused(*self.depot.refuses_lists)
        found = "".join(
            f"<Upload><Key>{key[len(self.depot.bucket) + 1:]}</Key>"
            f"<UploadId>{upload}</UploadId></Upload>"
            for upload, key in self.depot.keys.items()
            if upload in self.depot.uploads and
            key.startswith(f"{self.depot.bucket}/{query['prefix']}"))
        self.answer(200, (
            "<?xml version='1.0' encoding='UTF-8'?>\n"
            f"<ListMultipartUploadsResult xmlns='x'>{found}"
            "</ListMultipartUploadsResult>").encode())

    def on_GET(self, name, query, body):
        if "uploads" in query:
            self.list_uploads(query)
            return
        if name not in self.depot.objects:
            raise Refused(404, "NoSuchKey")
        data = self.depot.objects[name]
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)",
                             self.headers.get("Range", ""))
        if asked is None:
            self.answer(200, data, ETag='"e"')
            return
        begin = int(asked[1])
        end = min(int(asked[2] or len(data)) + 1, len(data))
        if begin >= end:
            raise Refused(416, "InvalidRange")
        self.answer(206, data[begin:end], ETag='"e"',
                    Content_Range=f"bytes {begin}-{end - 1}/{len(data)}")

    def refuse_for_now(self):
        if self.depot.incomplete > 0:
            self.depot.incomplete -= 1
            raise Refused(400, "IncompleteBody")
        if self.depot.busy_s > 0:
            self.depot.busy_until = (self.depot.busy_until or
                                     time.monotonic() + self.depot.busy_s)
            if time.monotonic() < self.depot.busy_until:
                raise Refused(503, "SlowDown")

    def on_PUT(self, name, query, body):
        self.refuse_for_now()
        if "partNumber" in query:
            if self.depot.slow > 0:
                self.depot.slow -= 1
                raise Refused(503, "SlowDown")
            parts = self.depot.upload(query)
            parts[int(query["partNumber"])] = body
            number = query["partNumber"]
            self.answer(200, ETag=f'"p&{number}"')
            return
        self.put(name, body)
        self.answer(200, ETag='"e"')

    def put(self, name, body):
        if self.depot.late > 0:
            self.depot.late -= 1
            self.depot.delayed[name] = body
            raise Unanswered
        if name in self.depot.objects and "If-None-Match" in self.headers:
            raise Refused(412, "PreconditionFailed")
        if not self.depot.loses:
            self.depot.objects[name] = body

    def on_POST(self, name, query, body):
        if "uploads" in query:
            upload = f"up/{len(self.depot.keys) + 1}+="
            self.depot.uploads[upload] = {}
            self.depot.keys[upload] = name
            if self.depot.loses_create:
                self.depot.loses_create -= 1
                raise Unanswered
            self.answer(200, (
                "<?xml version='1.0' encoding='UTF-8'?>\n"
                "<InitiateMultipartUploadResult xmlns='x'><Bucket>bkt</Bucket>"
                f"<UploadId>{upload}</UploadId>"
                "</InitiateMultipartUploadResult>").encode())
            return
        parts = self.depot.upload(query)
        if self.depot.fails_completion:
            self.depot.fails_completion -= 1
            self.answer(200, b"  \n<?xml version='1.0'?><Error><Code>"
                        b"InternalError</Code></Error>")
            return
        said = re.findall(r"<PartNumber>(\d+)</PartNumber>"
                          r"<ETag>&#34;p&#38;(\d+)&#34;</ETag>",
                          body.decode())
        if [int(n) for n, _ in said] != sorted(parts) or any(
                n != etag for n, etag in said):
            raise Refused(400, "InvalidPart")
        self.put(name, b"".join(parts[int(n)] for n, _ in said))
        del self.depot.uploads[query["uploadId"]]
        self.answer(200, b"\n\n  <CompleteMultipartUploadResult><ETag>e</ETag>"
                    b"</CompleteMultipartUploadResult>")

    def on_DELETE(self, name, query, body):
        if "uploadId" in query:
            self.depot.upload(query)
            del self.depot.uploads[query["uploadId"]]
        else:
            self.depot.objects.pop(name, None)
            if self.depot.keeps_versions:
                self.answer(204, x_amz_delete_marker="true")
                return
        self.answer(204)


class S3Depot:
    def __init__(self, region="us-east-1", token=None, off=0, slow=0,
                 fails_completion=0, loses=False, bucket="bkt",
                 is_private=False, late=0, loses_create=0,
                 keeps_versions=False, busy_s=0, incomplete=0):
        self.bucket, self.is_private = bucket, is_private
        self.keeps_versions = keeps_versions
        self.region, self.token, self.off = region, token, off
        self.slow, self.fails_completion = slow, fails_completion
        self.busy_s, self.busy_until = busy_s, None  # since the first PUT
        self.incomplete = incomplete  # so many bodies are called short
        self.loses = loses  # says yes, and keeps nothing
        self.late = late    # so many objects are put late, and without an answer
        self.delayed = {}   # those: see put_late()
        self.loses_create = loses_create  # so many answers are never sent
        self.refuses_lists = None  # a status and a code: of uploads
        self.keys = {}      # of each upload that was ever begun
        self.objects, self.uploads, self.requests = {}, {}, []
        self.lock = threading.RLock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.depot = self
        self.port = self.server.server_port
        self.endpoint = f"http://127.0.0.1:{self.port}"

    def now(self):
        return time.time() + self.off

    def upload(self, query):
        if query.get("uploadId") not in self.uploads:
            raise Refused(404, "NoSuchUpload")
        return self.uploads[query["uploadId"]]

    def put_late(self, change=lambda data: data):
        with self.lock:
            for name, body in self.delayed.items():
                self.objects.setdefault(name, change(body))
            self.delayed.clear()

    def count(self, method, more=""):
        with self.lock:
            return sum(r.startswith(method + " ") and more in r
                       for r in self.requests)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(SHUTDOWN,),
                         daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
