import { expect } from "chai";
import { AnswerMeter } from "../../../../src/adapters/outbound/answer-meter.ts";

const head = (status: string, ...lines: readonly string[]) => `HTTP/1.1 ${[status, ...lines].join("\r\n")}\r\n\r\n`;
const lines = (count: number) => Array.from({ length: count }, (_, index) => `a${index}:b`);

/** How many bytes the meter lets pass, the text coming in pieces of `size`, all in answer to one request. */
function admitted(text: string, size: number, meter = new AnswerMeter(), written = 1): number {
  const bytes = Buffer.from(text, "latin1");
  let passed = 0;
  for (let at = 0; at < bytes.length && !meter.exceeded; at += size) {
    passed += meter.admit(bytes.subarray(at, at + size), written).length;
  }
  return passed;
}

/** What the meter hands over of such pieces. */
function handedOver(text: string, size: number): string {
  const meter = new AnswerMeter();
  const bytes = Buffer.from(text, "latin1");
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(meter.admit(bytes.subarray(at, at + size), 1));
  return Buffer.concat(pieces).toString("latin1");
}

describe("answer meter", () => {
  for (const size of [1, 7, 1000, 1_000_000]) {
    describe(`with pieces of ${size} bytes`, () => {
      const whole = (text: string) => expect(admitted(text, size)).to.equal(text.length);

      it("lets ordinary answers pass whole", () => {
        whole(`${head("200 OK", "Content-Length: 2")}ok`);
        whole(`${head("103 Early Hints", "Link: </a>")}${head("200 OK", ...lines(90))}${"\n".repeat(900)}`);
        whole(head("200 OK", "Transfer-Encoding: chunked") + "3\r\n\n\n\n\r\n".repeat(150) + "0\r\nx: y\r\n\r\n");
        whole(`${head("200 OK", "transfer-encoding: chunked")}384;x=1\r\n${"\n".repeat(900)}\r\n0\r\n\r\n`);
        whole(`${head("200 OK", "transfer-encoding: chunked")}384\r\n${"x\n".repeat(450)}\r\n0\r\n\r\n`);
      });

      it("makes a 102 of each 100 Continue, for undici to let it pass, and changes nothing else", () => {
        const text = (code: number) =>
          `${head(`${code} Continue`, "x: HTTP/1.1 100")}${head("103 Hints")}${head(`${code} Go on`)}`
          + `${head("200 OK", "Transfer-Encoding: chunked")}10\r\nHTTP/1.1 100 ok\n\r\n0\r\nHTTP/1.1 100: 100\r\n\r\n`;
        expect(handedOver(text(100), size)).to.equal(text(102));
      });

      it("stops at too many headers, interim ones and trailers included", () => {
        const good = head("200 OK", "Transfer-Encoding: chunked");
        const many = `${lines(8000).join("\r\n")}\r\n`;
        const openings = ["HTTP/1.1 200 OK\r\n", `${head("103 Hints")}HTTP/1.1 200 OK\r\n`, `${good}1\r\n\n\r\n0\r\n`];
        for (const before of openings) {
          expect(admitted(before + many, size)).to.be.within(before.length, before.length + 257 * 9);
        }
        expect(admitted(head("103 Hints").repeat(1000), size)).to.be.below(head("103 Hints").length * 130);
      });

      it("counts anew for the next request", () => {
        const meter = new AnswerMeter();
        const text = `${head("200 OK", "Transfer-Encoding: chunked", ...lines(130))}1\r\nx\r\n0\r\n\r\n`;
        for (const written of [1, 2, 3]) expect(admitted(text, size, meter, written)).to.equal(text.length);
        const plain = `${head("200 OK")}${"x\n".repeat(900)}`;
        expect(admitted(plain, size, meter, 4), "no chunks of the former").to.equal(plain.length);
      });
    });
  }

  it("stops at too many pieces, reads and chunks alike", () => {
    expect(admitted(`${head("200 OK")}${"x".repeat(10_000)}`, 1)).to.equal(2049);
    const good = head("200 OK", "Transfer-Encoding: chunked");
    const passed = admitted(good + "1\r\nx\r\n".repeat(10_000), 16_384);
    expect(passed - good.length).to.be.within(2000 * 6, 2049 * 6);
  });

  it("stops at 256 KiB, whatever it consists of", () => {
    for (const text of [head("200 OK"), `${head("200 OK", "Transfer-Encoding: chunked")}1;`, "HTTP/1.1 200 "]) {
      const passed = admitted(text + "x".repeat(3_000_000), 16_384);
      expect(passed).to.be.within(262_144, 262_144 + 16_384);
    }
  });
});
