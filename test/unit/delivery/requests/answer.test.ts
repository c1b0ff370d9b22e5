import { expect } from "chai";
import { keptAnswer } from "../../../../src/delivery/requests/delivery-client.ts";
import type { OutboundAnswer } from "../../../../src/kernel/ports/outbound.ts";

function answer(fields: Partial<OutboundAnswer>): OutboundAnswer {
  return { answered: true, statusCode: 200, headers: {}, body: new Uint8Array(), truncated: false, ...fields };
}

describe("kept answer", () => {
  it("holds the body as text, also where its bytes are not UTF-8", () => {
    const text = (bytes: readonly number[], truncated = false) =>
      keptAnswer(answer({ body: Uint8Array.from(bytes), truncated })).body;
    expect(text([0x7b, 0xc3, 0xa9, 0x7d])).to.equal("{é}");
    expect(text([0x61, 0xff, 0x62])).to.equal("a\ufffdb");
    expect(text([0xef, 0xbb, 0xbf, 0x61])).to.equal("\ufeffa");
    expect(text([0x61, 0xe2, 0x82])).to.equal("a\ufffd");
    expect(text([0x61, 0xe2, 0x82], true)).to.equal("a");
  });

  it("holds 16 KiB of any text or JSON, and less of characters that take more space in the log", () => {
    const kept = (text: string, truncated = false) => keptAnswer(answer({ body: Buffer.from(text), truncated }));
    for (const sign of ["x", "\"", "\n", "é", "語", "😀"]) {
      const text = sign.repeat(16_384 / Buffer.byteLength(sign));
      expect(kept(text), sign).to.include({ body: text, truncated: false });
    }
    for (const sign of ["\0", "\u001b", "\0😀", "\ufffd"]) {
      const text = sign.repeat(16_384 / sign.length);
      const { body, truncated } = kept(text);
      expect([text.startsWith(body), truncated, body.isWellFormed()], sign).to.deep.equal([true, true, true]);
      expect(Buffer.byteLength(JSON.stringify(body)), sign).to.be.within(32_768 - 8, 32_768 + 2);
    }
    expect(kept("cut", true)).to.include({ body: "cut", truncated: true });
  });

  it("holds headers in lower case, within bounds", () => {
    const few = keptAnswer(answer({ headers: { "X-One": "1", date: "now" } }));
    expect(few.headers).to.deep.equal({ "x-one": "1", date: "now" });
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x-${index}`, "v"]));
    expect(Object.keys(keptAnswer(answer({ headers: many })).headers)).to.have.lengthOf(64);
    const large = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`x-${index}`, "v".repeat(2000)]));
    expect(JSON.stringify(keptAnswer(answer({ headers: large })).headers).length).to.be.below(8400);
  });
});
