import { expect } from "chai";
import { maskedAnswer } from "../../../../src/application/delivery/masking.ts";
import { authHeader, bearer } from "../../../../src/application/delivery/request.ts";

const answer = (body: string, truncated = false, headers: Record<string, string> = {}) =>
  ({ statusCode: 200, headers, body, truncated });
const secret = 'Canary "Quoted" /+ü=';

describe("an answer that sends a secret back", () => {
  it("is kept without it, however it is written", () => {
    const forms = [
      secret, JSON.stringify(secret), encodeURIComponent(secret), Buffer.from(secret).toString("base64"),
      Buffer.from(secret).toString("base64url"), secret.toLowerCase(),
    ];
    for (const form of forms) {
      const { body, headers } = maskedAnswer(answer(`a${form}b${form}`, false, { [`x-${form}`]: form }), [secret]);
      const kept = { body, ...headers };
      expect(JSON.stringify(kept).replaceAll('\\"', "")).to.equal('{"body":"a***b***","x-***":"***"}');
    }
  });

  it("is kept without the beginning of one where its body was cut off, and only there", () => {
    expect(maskedAnswer(answer(`said ${secret.slice(0, 9)}`, true), [secret]).body).to.equal("said ***");
    expect(maskedAnswer(answer(`said ${secret.slice(0, 9)}`), [secret]).body).to.equal(`said ${secret.slice(0, 9)}`);
    expect(maskedAnswer(answer("said ca", true), [secret]).body).to.equal("said ca");
    const two = ["alexander:alex4711alex-and-more", "alex4711alex-and-more"];
    expect(maskedAnswer(answer("said alex4711alex", true), two).body).to.equal("said ***");
  });

  it("is kept as it is where there is no secret in it, or one too short to be one", () => {
    for (const secrets of [[], ["abc"], ["another secret"]]) {
      expect(maskedAnswer(answer("abc abcd", true, { a: "abc" }), secrets)).to.deep.equal(
        answer("abc abcd", true, { a: "abc" }),
      );
    }
  });

  it("of one secret within another shows no part of the longer", () => {
    expect(maskedAnswer(answer("user:user-and-more"), ["user", "user-and-more"]).body).to.equal("***:***");
  });

  it("knows what is secret in every kind of credentials", () => {
    const echoed = (header: ReturnType<typeof bearer>) =>
      maskedAnswer(answer(JSON.stringify({ [header.name]: header.value })), header.secrets).body;
    expect(echoed(authHeader({ type: "ApiKey", headerName: "X-Key", value: secret }))).to.equal('{"X-Key":"***"}');
    expect(echoed(bearer("a.token.of-mine"))).to.equal('{"Authorization":"Bearer ***"}');
    const basic = authHeader({ type: "BasicAuth", username: "someone", password: secret });
    expect(echoed(basic)).to.equal('{"Authorization":"Basic ***"}');
    expect(maskedAnswer(answer(`someone is not ${secret}`), basic.secrets).body).to.equal("*** is not ***");
  });
});
