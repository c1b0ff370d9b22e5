import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

const goodForMs = 300_000;
const over = "This link has been used, or is too old. Sign in with the email and password that the demo has printed.";

/** Exchanges the code, which the browser keeps to itself as the fragment of the address. */
const page = (nonce: string) => `<!doctype html>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Webhook Relay</title>
<p>Signing in…</p>
<script nonce="${nonce}">
  fetch("/", { method: "POST", body: location.hash.slice(1) }).then(async (answer) => {
    const text = await answer.text();
    if (answer.ok) location.replace(text);
    else document.querySelector("p").textContent = text;
  });
</script>
`;

/**
 * Returns a link that signs a browser on this machine in, once. `signIn` opens the session and resolves to its cookies:
 * a browser shares them among the ports of a host. The page then leads to `app`.
 */
export async function openSignIn(app: string, signIn: () => Promise<readonly string[]>): Promise<string> {
  let code: Buffer | undefined = Buffer.from(randomBytes(32).toString("base64url"));
  setTimeout(() => (code = undefined), goodForMs).unref();
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(502).end("The relay did not open the session."));
  });
  await once(server.listen(0, "127.0.0.1").unref(), "listening");
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const link = `http://${host}/#${code.toString()}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("Cache-Control", "no-store");
    // By another name, a page of another site could be at this address.
    if (request.headers.host !== host) return void response.writeHead(421).end();
    if (request.method !== "POST") {
      const nonce = randomBytes(16).toString("base64url");
      const policy = `default-src 'none'; script-src 'nonce-${nonce}'; connect-src 'self'; frame-ancestors 'none'`;
      return void response.writeHead(200, { "Content-Type": "text/html", "Content-Security-Policy": policy })
        .end(page(nonce));
    }
    const isOwn = request.headers["sec-fetch-site"] === "same-origin";
    const given = isOwn ? await buffer(request) : undefined;
    if (!given || given.length !== code?.length || !timingSafeEqual(given, code)) {
      return void response.writeHead(403).end(over);
    }
    code = undefined;
    response.writeHead(200, { "Set-Cookie": [...await signIn()] }).end(app);
  }

  return link;
}
