// A receiver of webhooks that believes only what the relay signed. Node 18 or newer, no package needed:
//   WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WEBHOOK_SECRET;
const toleranceSeconds = 5 * 60;

/** Standard Webhooks: what was signed includes the moment, so that an old request cannot be sent again. */
function isSignedStandard(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" } = headers;
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!id || !(age <= toleranceSeconds)) return false;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  return signatures.split(" ").some((signature) => equal(signature, `v1,${digest}`));
}

/** X-Service-Signature: the body alone, keyed with the whole text of the secret. */
function isSignedService(headers, body) {
  const digest = createHmac("sha256", secret).update(body).digest("hex");
  return equal(headers["x-service-signature"] ?? "", `sha256=${digest}`);
}

/** Takes as long whatever the first difference: how long it took must tell nothing. */
function equal(given, expected) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const server = createServer(async (request, response) => {
  // The very bytes that came: parsed and written anew, they would have another signature.
  const body = Buffer.concat(await request.toArray());
  // Either is proof enough; a receiver needs one of the two.
  if (!isSignedStandard(request.headers, body) || !isSignedService(request.headers, body)) {
    response.writeHead(401).end();
    return;
  }
  // An event can come more than once: remember its webhook-id, and do the work only the first time.
  response.writeHead(204).end();
});
server.listen(process.env.PORT, "127.0.0.1", () => console.log("listening"));
