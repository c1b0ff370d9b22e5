# A receiver of webhooks that believes only what the relay signed. Python 3.9 or newer, no package needed:
#   WEBHOOK_SECRET=whsec_… PORT=3000 TLS_CERT=receiver.pem TLS_KEY=receiver.key python3 receiver.py
# Without TLS_CERT and TLS_KEY it speaks plain HTTP, for a proxy in front that speaks TLS.
import base64
import hashlib
import hmac
import os
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]
TOLERANCE_SECONDS = 5 * 60


def is_signed(headers, body):
    """webhook-signature: what was signed includes the moment, so that an old request cannot be sent again."""
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
    # compare_digest takes as long whatever the first difference: how long it took must tell nothing.
    return any(hmac.compare_digest(signature.encode(), expected) for signature in given)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The very bytes that came: parsed and written anew, they would have another signature.
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        # An event can come more than once: remember its webhook-id, and do the work only the first time.
        self.send_response(204 if is_signed(self.headers, body) else 401)
        self.end_headers()


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
if "TLS_CERT" in os.environ:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print("listening", flush=True)
server.serve_forever()
