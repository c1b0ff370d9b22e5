// A receiver of webhooks that believes only what the relay signed. Node 18 or newer, no package needed:
//   WEBHOOK_SECRET=whsec_… PORT=3000 TLS_CERT=receiver.pem TLS_KEY=receiver.key node receiver.mjs
// Without TLS_CERT and TLS_KEY it speaks plain HTTP, for a proxy in front that speaks TLS.
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";

const { WEBHOOK_SECRET: secret, PORT: port, TLS_CERT: certFile, TLS_KEY: keyFile } = process.env;
const toleranceSeconds = 5 * 60;

/** `webhook-signature`: what was signed includes the moment, so that an old request cannot be sent again. */
function isSigned(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" } = headers;
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!id || !(age <= toleranceSeconds)) return false;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  return signatures.split(" ").some((signature) => equal(signature, `v1,${digest}`));
}

/** Takes as long whatever the first difference: how long it took must tell nothing. */
function equal(given, expected) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

async function receive(request, response) {
  // The very bytes that came: parsed and written anew, they would have another signature.
  const body = Buffer.concat(await request.toArray());
  if (!isSigned(request.headers, body)) {
    response.writeHead(401).end();
    return;
  }
  // An event can come more than once: remember its webhook-id, and do the work only the first time.
  response.writeHead(204).end();
}

const server = certFile
  ? https.createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, receive)
  : http.createServer(receive);
server.listen(port, "127.0.0.1", () => console.log("listening"));
