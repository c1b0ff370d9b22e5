import { Socket } from "node:net";
import { expect } from "chai";
import { tellingOfCompleteResponses } from "../../../../src/engines/kafka/sockets.ts";
import { chanceFrom } from "../../../support/chance.ts";

describe("a socket that emits complete responses", () => {
  const random = chanceFrom(1);
  const below = (limit: number) => Math.floor(random() * limit);
  const answer = (size: number) => {
    const bytes = Buffer.alloc(4 + size, size);
    bytes.writeInt32BE(size);
    return bytes;
  };

  /** The data that a socket emits when it receives these chunks. */
  function told(...chunks: readonly Buffer[]): readonly Buffer[] {
    const heard: Buffer[] = [];
    const socket = tellingOfCompleteResponses(new Socket()).on("data", (data) => heard.push(data));
    for (const chunk of chunks) socket.emit("data", chunk);
    return heard;
  }

  it("emits each complete response, however its bytes are split", () => {
    for (let round = 0; round < 500; round += 1) {
      const answers = Array.from({ length: 1 + below(6) }, () => answer(below(40)));
      const bytes = Buffer.concat(answers);
      const ends = new Set(answers.map((_, index) => Buffer.concat(answers.slice(0, index + 1)).length));
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length;) {
        const chunk = bytes.subarray(at, at + 1 + below(50));
        chunks.push(chunk);
        at += chunk.length;
      }
      const heard = told(...chunks);
      expect(Buffer.concat(heard)).to.deep.equal(bytes);
      let end = 0;
      for (const data of heard) expect(ends).to.include((end += data.length));
    }
  });

  it("emits no incomplete response", () => {
    const [whole, cut] = [answer(20), answer(30)];
    for (let length = 0; length < cut.length; length += 1) {
      expect(told(whole, cut.subarray(0, length))).to.deep.equal([whole]);
      expect(told(Buffer.concat([whole, cut.subarray(0, length)]))).to.deep.equal([whole]);
    }
  });

  it("emits all other events as before", () => {
    let ended = 0;
    const socket = tellingOfCompleteResponses(new Socket()).on("end", () => (ended += 1));
    expect(socket.emit("end")).to.equal(true);
    expect(ended).to.equal(1);
  });
});
