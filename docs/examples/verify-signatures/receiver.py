# A receiver of webhooks that believes only what the relay signed. Python 3.9 or newer, no package needed:
#   WEBHOOK_SECRET=whsec_… PORT=3000 python3 receiver.py
import base64
import hashlib
import hmac
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]
TOLERANCE_SECONDS = 5 * 60


def is_signed_standard(headers, body):
    """Standard Webhooks: what was signed includes the moment, so that an old request cannot be sent again."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not event_id or not timestamp.isascii() or not timestamp.isdigit():
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(SECRET[len("whsec_"):])
    digest = hmac.new(key, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(signature.encode(), expected) for signature in given)


def is_signed_service(headers, body):
    """X-Service-Signature: the body alone, keyed with the whole text of the secret."""
    expected = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    given = headers.get("x-service-signature", "")
    # compare_digest takes as long whatever the first difference: how long it took must tell nothing.
    return hmac.compare_digest(given.encode(), expected.encode())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The very bytes that came: parsed and written anew, they would have another signature.
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        # Either is proof enough; a receiver needs one of the two.
        good = is_signed_standard(self.headers, body) and is_signed_service(self.headers, body)
        # An event can come more than once: remember its webhook-id, and do the work only the first time.
        self.send_response(204 if good else 401)
        self.end_headers()


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print("listening", flush=True)
server.serve_forever()
