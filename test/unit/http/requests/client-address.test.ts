import type { IncomingMessage } from "node:http";
import { expect } from "chai";
import { clientAddress } from "../../../../src/http/requests/client-address.ts";

describe("the address of a client", () => {
  const table: [string, string, number, string | undefined, string][] = [
    ["the socket's without proxies", "192.0.2.1", 0, "198.51.100.1", "192.0.2.1"],
    ["the socket's without the header", "192.0.2.1", 1, undefined, "192.0.2.1"],
    ["the socket's when the header is empty", "192.0.2.1", 1, " , ", "192.0.2.1"],
    ["the last entry behind one proxy", "10.0.0.1", 1, "203.0.113.9, 198.51.100.1", "198.51.100.1"],
    ["the last but one behind two", "10.0.0.1", 2, "203.0.113.9, 198.51.100.1, 10.0.0.2", "198.51.100.1"],
    ["the first when there are fewer", "10.0.0.1", 3, "198.51.100.1, 10.0.0.2", "198.51.100.1"],
    ["the socket's when the entry is none", "10.0.0.1", 1, "198.51.100.1, unknown", "10.0.0.1"],
    ["without a port", "10.0.0.1", 1, "198.51.100.1:4711", "198.51.100.1"],
    ["without brackets and port", "10.0.0.1", 1, "[2001:db8::1]:4711", "2001:db8::1"],
    ["in one spelling", "10.0.0.1", 1, "2001:DB8:0:0::0001", "2001:db8::1"],
    ["as IPv4 when it is mapped", "::ffff:192.0.2.1", 0, undefined, "192.0.2.1"],
    ["as IPv4 when it is mapped and forwarded", "10.0.0.1", 1, "::FFFF:192.0.2.1", "192.0.2.1"],
    ["as IPv4 however it is mapped", "10.0.0.1", 1, "::ffff:c000:201", "192.0.2.1"],
    ["as IPv4 however long that is", "10.0.0.1", 1, "0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ["as IPv4 when it is mapped, in brackets and with a port", "10.0.0.1", 1, "[::FFFF:192.0.2.1]:80", "192.0.2.1"],
    ["without a zone and a port", "10.0.0.1", 1, "[FE80::1%25eth0]:80", "fe80::1"],
    ["without a zone", "fe80::1%eth0", 0, undefined, "fe80::1"],
  ];
  for (const [what, remoteAddress, proxies, forwarded, expected] of table) {
    it(`is ${what}`, () => {
      const request = {
        socket: { remoteAddress },
        headers: { "x-forwarded-for": forwarded },
      } as unknown as IncomingMessage;
      expect(clientAddress(request, proxies)).to.equal(expected);
    });
  }
});
