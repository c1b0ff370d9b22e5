import { expect } from "chai";
import { createOutboundClient } from "../../../../src/engines/outbound/client.ts";

describe("refusalOf", () => {
  const client = createOutboundClient({
    connectTimeoutMs: 1000, deliveryTimeoutMs: 1000, allowedNetworks: ["10.9.0.0/16"], extraCa: null,
  });
  after(() => client.close());

  it("recognises every spelling of a literal address", () => {
    const bad = [
      "https://127.0.0.1/", "https://127.1/", "https://0x7f.1/", "https://0x7f000001/", "https://2130706433/",
      "https://017700000001/", "https://0177.0.0.01/", "https://１２７.0.0.1/", "https://127。0。0。1/",
      "https://127.0.0.1./", "https://0/", "https://0.0.0.0:8443/", "https://10.0.0.1/x",
      "https://169.254.169.254/latest", "https://[::1]/", "https://[0:0:0:0:0:0:0:1]/",
      "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::127.0.0.1]/",
      "https://[64:ff9b::7f00:1]/", "https://[fe80::1]/", "https://[fd00:ec2::254]/", "HTTPS://%31%32%37.0.0.1/",
      "https://user@127.0.0.1/", "https://example.com@10.0.0.1/", "https:\\\\127.0.0.1\\", "https://127.0.0.1\t/",
    ];
    for (const url of bad) expect(client.refusalOf(url), url).to.be.a("string");
  });

  it("allows names, and public or allowed addresses", () => {
    const good = [
      "https://example.com/", "https://8.8.8.8/", "https://[2606:4700:4700::1111]/", "https://10.9.1.1/",
      "https://localhost/", "https://[::ffff:808:808]/", "https://134744072/", "https://1.example/",
      "https://10.0.0.1.example.com/",
    ];
    for (const url of good) expect(client.refusalOf(url), url).to.be.null;
  });

  it("refuses all but https URLs", () => {
    for (const url of ["http://example.com/", "ftp://8.8.8.8/", "example.com", "", "https://", "https://1.2.3.4.5/"]) {
      expect(client.refusalOf(url), url).to.be.a("string");
    }
  });
});
