import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";

/** How long clients may take, milliseconds. One that is slower is cut off, by `checkEvery` late at most. */
export interface Patience {
  /** For a whole head. */
  readonly headers: number;
  /** For a whole request. */
  readonly request: number;
  readonly checkEvery: number;
}

/** How long a connection may stay idle between requests; longer than a load balancer's own 60 s. */
const keepAliveMs = 65_000;
const usualPatience: Patience = { headers: 10_000, request: 30_000, checkEvery: 1_000 };
const headerBytes = 16_384;

/** An HTTP server, not yet listening. While it closes, answers tell clients to come back elsewhere. */
export function createHttpServer(app: RequestListener, patience = usualPatience): Server {
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (!server.listening) response.shouldKeepAlive = false;
    app(request, response);
  };
  const server = createServer(
    {
      keepAliveTimeout: keepAliveMs,
      headersTimeout: patience.headers,
      requestTimeout: patience.request,
      connectionsCheckingInterval: patience.checkEvery,
      maxHeaderSize: headerBytes,
    },
    serve,
  );
  // The body's reader says "continue" once it is known that the body is wanted.
  server.on("checkContinue", serve);
  return server;
}
