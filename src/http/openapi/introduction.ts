/** The rules for every operation; paragraphs of Markdown. */
export const introduction = [
  "Producers post JSON to an ingest path; the relay stores it, signs it and delivers it over HTTPS to a tenant's " +
  "destination, with retries, circuit breakers and replay. Every attempt stays readable until its event is purged, " +
  "and every change of a setting as long as the tenant.",

  "To start, create a tenant (`POST /api/v1/tenants`), log in (`POST /api/v1/auth/login`), and send the " +
  "`accessToken` with every other request as `Authorization: Bearer …`. A machine sends a key of its service account " +
  "there instead. Register a destination and issue an API key: with the key in `X-Api-Key`, a producer posts to " +
  "`/api/v1/ingest/{tenantId}/{token}`, the token being the destination's `ingestToken`. " +
  "`GET /api/v1/events/{id}/attempts` then tells what became of an event, and `GET /api/v1/events/{id}/history` " +
  "who did what to it, when and why.",

  "Bodies are JSON objects in UTF-8, at most 256 KiB (`RELAY_MAX_BODY_BYTES`) and nested at most 128 deep. Unknown " +
  "fields are ignored, except in bodies of operations on many events; a known field of the wrong type gives 400. " +
  "Ids are UUIDs, in any case. Times are ISO 8601 UTC with milliseconds. Paths are case-sensitive, have no trailing " +
  "slash, and are compared as they are, undecoded; a character that RFC 3986 allows in no path and no query gives " +
  "400. Requests of one tenant never see or touch anything of another's.",

  "Every answer has an `X-Request-Id`. A request may give its own in that header: 1 to 128 visible ASCII characters; " +
  "anything else is ignored, and the service makes one. Histories show it as the `correlationId` of every fact that " +
  "the request wrote, and of the attempts to deliver an event that it had accepted.",

  "A request may name its caller in `X-Relay-Principal`: the `principal.id` that `GET /api/v1/me` answers. Where the " +
  "caller is another, the answer is 412 and nothing is done. Operations without sign-in ignore it.",

  "Errors are plain text that names what is wrong and with which field; only a disposable email is answered with " +
  "JSON. Checks come in this order: 401; 412; 415, 413 and 400 for body and query; 404; 403 for another tenant's, " +
  "then for the role or the scope; 409 and 422. The limits of tenant creation and registration come before all of " +
  "them. 401 says in `WWW-Authenticate` what is needed, `Bearer` or, at ingest, `ApiKey`. Unknown paths give 404, " +
  "other methods 405 with `Allow`; `HEAD` is answered wherever `GET` is, and `OPTIONS` with 204. 429 carries no " +
  "`Retry-After`.",

  "Lists take `Qt` (items per page, 1 to 100, 20 unless said), `Pg` (page, from 1), `CpOrd` (sort field) and " +
  "`TpOrd` (`Asc` or `Desc`, in any case), and answer `total`, the count of all that the filters match, with the " +
  "page's `items`. They show every write that was acknowledged before the request, or answer 503: they are never " +
  "stale. A parameter whose name differs only in case from one of the operation's gives 400 and the right " +
  "spelling; any other unknown parameter is ignored, so a misspelt filter filters nothing.",
].join("\n\n");
