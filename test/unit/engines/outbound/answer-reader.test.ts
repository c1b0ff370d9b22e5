import { expect } from "chai";
import { AnswerReader } from "../../../../src/engines/outbound/answer-reader.ts";
import { oddAnswers } from "../../../support/odd-answers.ts";

const head = (status: string, ...lines: readonly string[]) => `HTTP/1.1 ${[status, ...lines].join("\r\n")}\r\n\r\n`;
const lines = (count: number) => Array.from({ length: count }, (_, index) => `a${index}:b`);
const inChunks = head("200 OK", "Transfer-Encoding: chunked");

/** The output of the reader for a text in pieces of `size`, all answering one request. */
function handedOn(text: string, size: number, reader = new AnswerReader(), written = 1): string {
  const bytes = Buffer.from(text, "latin1");
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length && reader.fault === null; at += size) {
    pieces.push(reader.admit(bytes.subarray(at, at + size), written));
  }
  return Buffer.concat(pieces).toString("latin1");
}

describe("answer reader", () => {
  for (const size of [1, 7, 1000, 1_000_000]) {
    describe(`with pieces of ${size} bytes`, () => {
      const whole = (text: string) => expect(handedOn(text, size)).to.equal(text);

      it("passes ordinary answers on unchanged", () => {
        whole(`${head("200 OK", "Content-Length: 2")}ok`);
        whole(`${head("200 OK", ...lines(90))}${"\n".repeat(900)}`);
        whole(`${inChunks}${"3\r\n\n\n\n\r\n".repeat(150)}0\r\n\r\n`);
        whole(`${head("200 OK", "transfer-encoding: chunked")}384\r\n${"x\n".repeat(450)}\r\n0\r\n\r\n`);
        whole(`${inChunks}10\r\nHTTP/1.1 100 ok\n\r\n0\r\n\r\nHTTP/1.1 100: 100\r\n\r\n`);
      });

      it("leaves out interim answers, trailers and extensions of chunks", () => {
        const interim = head("100 Continue", "x: HTTP/1.1 100") + head("103 Hints", "Link: </a>");
        expect(handedOn(`${interim}${inChunks}3;x=1\r\n\n\n\n\r\n0;y\r\nx: y\r\nz: z\r\n\r\n`, size)).to.equal(
          `${inChunks}3\r\n\n\n\n\r\n0\r\n\r\n`);
      });

      it("passes on at most 128 headers of a long head", () => {
        const long = handedOn(head("200 OK", ...lines(5_000)), size);
        // At most 2,048 pieces are read.
        if (size > 10) expect(long.split("\r\n")).to.have.length(128 + 3);
      });

      it("starts afresh with the next request", () => {
        const reader = new AnswerReader();
        const text = `${inChunks}1\r\nx\r\n0\r\n\r\n`;
        for (const written of [1, 2, 3]) expect(handedOn(text, size, reader, written)).to.equal(text);
        handedOn("HTTP/1.1 200 OK\r\nX-Half: ", size, reader, 4);
        const plain = `${head("200 OK")}${"x\n".repeat(900)}`;
        expect(handedOn(plain, size, reader, 5), "no chunks of the former, and no half a head").to.equal(plain);
      });
    });
  }

  it("reads odd answers in the same way, however they are cut into pieces", () => {
    for (const { name, text } of oddAnswers) {
      const fault = (size: number) => {
        const reader = new AnswerReader();
        return [handedOn(text, size, reader), reader.fault];
      };
      const sizes = text.length > 1_000 ? [1_000, 4_096] : [1, 2, 3, 5, 11, 60];
      for (const size of sizes) expect(fault(size), `${name}, by ${size}`).to.deep.equal(fault(1_000_000));
    }
  });

  it("keeps a regular head as it is, and rewrites an irregular one", () => {
    for (const { name, text } of oddAnswers) {
      const handed = handedOn(text, 1_000_000);
      if (handed === "") continue;
      const [first = ""] = handed.split("\r\n\r\n");
      expect(first, name).to.match(/^HTTP\/1\.[01] \d{3} [^\r\n]*(\r\n[\w!#$%&'*+.^`|~-]+:[\t -~\x80-\xff]*)*$/);
      expect(first.match(/\ncontent-length:/gi)?.length ?? 0, name).to.be.below(2);
    }
  });

  it("does not use a connection again if the length of an answer is in doubt", () => {
    const closing = (...headers: readonly string[]) =>
      /\r\nConnection: close\r\n/.test(handedOn(head("200 OK", ...headers), 1_000_000));
    expect(closing("Content-Length: 2", "Content-Length: 3")).to.equal(true);
    expect(closing("Content-Length: 2, 3", "Connection: keep-alive")).to.equal(true);
    expect(closing("Content-Length: 2", "Transfer-Encoding: chunked")).to.equal(true);
    expect(closing("Content-Length: 2", "Transfer-Encoding: gzip")).to.equal(true);
    expect(closing("Content-Length: 2", "Content-Length: 2")).to.equal(false);
    expect(closing("Content-Length : 2")).to.equal(false);
  });

  it("takes time in proportion to an answer's length, for any content", () => {
    const many = 60_000;
    const texts = ["\r", "\n ", "\r\n\t", " ", "\t:", "a:", ",", "\r\r\n ", "X-A:\r\n "].flatMap((part) =>
      ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: ", "HTTP/1.1 200 OK\r\nTransfer-Encoding: "].map(
        (before) => `${before}${part.repeat(many / part.length)}\r\n\r\n`));
    for (const text of texts) {
      const startedAt = performance.now();
      handedOn(text, 1_000_000);
      handedOn(text, 100);
      expect(performance.now() - startedAt, JSON.stringify(text.slice(0, 60))).to.be.below(500);
    }
  });

  it("stops at too many pieces: reads, interim answers or chunks", () => {
    const reader = new AnswerReader();
    expect(handedOn(`${head("200 OK")}${"x".repeat(10_000)}`, 1, reader)).to.have.length(2_048);
    expect(reader.fault).to.equal("the answer comes in too many pieces");
    const passed = handedOn(inChunks + "1\r\nx\r\n".repeat(10_000), 16_384).length;
    expect(passed - inChunks.length).to.be.within(2_000 * 6, 2_049 * 6);
    const flooded = new AnswerReader();
    expect(handedOn(head("103 Hints").repeat(10_000), 16_384, flooded)).to.equal("");
    expect(flooded.fault).to.equal("the answer comes in too many pieces");
  });

  it("stops at 256 KiB, and in a head at 64", () => {
    const read = (text: string) => {
      const reader = new AnswerReader();
      return { passed: handedOn(text + "x".repeat(3_000_000), 16_384, reader).length, fault: reader.fault };
    };
    const body = read(head("200 OK"));
    expect(body.fault).to.equal("the answer is larger than 256 KiB");
    expect(body.passed).to.be.within(262_144, 262_144 + 16_384);
    expect(read(`${inChunks}1;`)).to.include({ passed: inChunks.length, fault: "the answer is larger than 256 KiB" });
    for (const text of ["HTTP/1.1 200 ", "HTTP/1.1 200 OK\r\nX: "]) {
      expect(read(text)).to.deep.equal({ passed: 0, fault: "the answer's headers are larger than 64 KiB" });
    }
  });
});
