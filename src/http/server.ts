import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";

/** How long a connection may stay idle between requests; longer than a load balancer's own 60 s. */
const keepAliveMs = 65_000;
/** A client that sends slower than this is cut off. */
const headersMs = 10_000;
const requestMs = 30_000;
const checkEveryMs = 1_000;
const headerBytes = 16_384;

/** An HTTP server, not yet listening. While it closes, answers tell clients to come back elsewhere. */
export function createHttpServer(app: RequestListener): Server {
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (!server.listening) response.shouldKeepAlive = false;
    app(request, response);
  };
  const server = createServer(
    {
      keepAliveTimeout: keepAliveMs,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkEveryMs,
      maxHeaderSize: headerBytes,
    },
    serve,
  );
  // The body's reader says "continue" once it is known that the body is wanted.
  server.on("checkContinue", serve);
  return server;
}
