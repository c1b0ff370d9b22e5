import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { expect } from "chai";
import { certificateFile } from "../../../src/main/config/certificates.ts";
import { until } from "../../contract/event-store/harness.ts";
import { KafkaQueues } from "../../support/kafka-queues.ts";
import { makeAuthority, makeSelfSigned } from "../../support/tls.ts";
import { firstAttempt } from "../../support/work-recorder.ts";
import { localClient, request } from "./setup.ts";

describe("trust in a file of certificates", () => {
  const root = makeAuthority();
  const intermediate = root.intermediate();
  const leaf = intermediate.issue();
  const chained = { key: leaf.key, cert: leaf.cert + intermediate.caPem };
  const stranger = makeAuthority().caPem;
  let folder: string;
  let server: Server;
  let url: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "relay-trust-"));
    server = createServer(chained, (_request, response) => response.end());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  /** The certificates of a file with this content. */
  const read = (content: string | Buffer) => {
    const file = join(folder, "ca.pem");
    writeFileSync(file, content);
    return certificateFile(file);
  };

  const trusted: Readonly<Record<string, string>> = {
    "the root": root.caPem,
    "the intermediate authority alone": intermediate.caPem,
    "the receiver's own certificate alone": leaf.cert,
    "files joined without a newline": root.caPem.trimEnd() + stranger,
    "files joined the other way round": stranger.trimEnd() + root.caPem,
    "three joined": [stranger, rootCertificates[0], intermediate.caPem].map((pem) => pem?.trim()).join(""),
    "lines that end with CRLF": `${stranger}${root.caPem}`.replaceAll("\n", "\r\n"),
    "lines that end with CR": `${stranger}${root.caPem}`.replaceAll("\n", "\r"),
    "indented lines": `${stranger}${root.caPem}`.replaceAll(/^/gm, "    "),
    "one long line": root.caPem.replace(/[A-Za-z0-9+/=\n]{100,}/, (body) => `\n${body.replaceAll("\n", "")}\n`),
    "a byte order mark": `\ufeff${root.caPem}`,
    "text around certificates": `Issued by us\n${stranger}\nand then\n${root.caPem}\nthe end`,
    "a certificate in a comment": `# -----BEGIN CERTIFICATE-----\n# AAAA\n# -----END CERTIFICATE-----\n${root.caPem}`,
    duplicates: root.caPem.repeat(3),
    "the old label": root.caPem.replaceAll(" CERTIFICATE", " X509 CERTIFICATE"),
    "the label of OpenSSL's own": root.caPem.replaceAll(" CERTIFICATE", " TRUSTED CERTIFICATE"),
    "a private key before": `${leaf.key}${root.caPem}`,
    "a revocation list before": `-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n${root.caPem}`,
  };
  for (const [what, content] of Object.entries(trusted)) {
    it(`is kept: ${what}`, async () => {
      const client = localClient(read(content).pem);
      expect(await client.post(request(url))).to.include({ statusCode: 200 });
      await client.close();
    });
  }

  it("is kept: a receiver's self-signed certificate", async () => {
    const own = makeSelfSigned();
    server.setSecureContext(own);
    const client = localClient(read(own.cert).pem);
    const answer = await client.post(request(url));
    server.setSecureContext(chained);
    expect(answer).to.include({ statusCode: 200 });
    await client.close();
  });

  it("is not given to other certificates", async () => {
    for (const pem of [null, stranger, makeAuthority().intermediate().caPem, root.issue().cert]) {
      const client = localClient("", { extraCa: pem });
      expect(await client.post(request(url))).to.include({ reason: "tls" });
      await client.close();
    }
  });

  it("holds for the brokers of Kafka, too", async () => {
    for (const content of [intermediate.caPem, leaf.cert, stranger.trimEnd() + root.caPem]) {
      let handshakes = 0;
      const count = () => (handshakes += 1);
      server.on("secureConnection", count);
      const queues = new KafkaQueues();
      const { queue } = queues.open([new URL(url).host], { tls: { ca: read(content) } });
      const publishing = queue.publish([firstAttempt("a")]).catch(() => {});
      await until("the broker's handshake succeeded", () => handshakes > 0);
      await publishing;
      await queues.close();
      server.off("secureConnection", count);
    }
  });
});
