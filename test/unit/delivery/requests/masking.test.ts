import { expect } from "chai";
import fc from "fast-check";
import { keptAnswer, keptBodyBytes } from "../../../../src/delivery/requests/delivery-client.ts";
import { maskedAnswer, secretForms } from "../../../../src/delivery/requests/masking.ts";
import { authHeader, bearer } from "../../../../src/delivery/requests/request.ts";

const answer = (body: string, truncated = false, headers: Record<string, string> = {}) =>
  ({ statusCode: 200, headers, body, truncated });
const masked = (given: ReturnType<typeof answer>, secrets: readonly string[]) =>
  maskedAnswer(given, secretForms(secrets));
const secret = 'Canary "Quoted" /+ü=';

const hex = (char: string, width: number) => char.charCodeAt(0).toString(16).padStart(width, "0");
const lowerPercents = (text: string) => text.replace(/%../g, (escape) => escape.toLowerCase());
const inForm = (text: string) => new URLSearchParams({ "": text }).toString().slice(1);
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const asLatin1 = (text: string) => Buffer.from(text).toString("latin1");
const html = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
/** Encodings in which answers echo a text. */
const encoders: Readonly<Record<string, (text: string) => string>> = {
  "JSON.stringify": json,
  "PHP's json_encode": (text) =>
    json(text).replaceAll("/", "\\/").replace(/[\u0080-\uffff]/g, (char) => `\\u${hex(char, 4)}`),
  Gson: (text) => json(text).replace(/[<>&='+]/g, (char) => `\\u${hex(char, 4)}`),
  "upper-case \\u": (text) => json(text).replace(/[<>&/=+]/g, (char) => `\\u${hex(char, 4).toUpperCase()}`),
  "Python's repr": (text) => text.replace(/[\\']/g, "\\$&").replace(/[\x80-\xff]/g, (char) => `\\x${hex(char, 2)}`),
  "JSON in JSON": (text) => json(json(text).replaceAll("/", "\\/")),
  "JSON on a page": (text) => html(json(text)).replaceAll('"', "&quot;"),
  "named and decimal HTML": (text) => html(text).replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
  "hexadecimal HTML": (text) =>
    text.replace(/[^a-z0-9 ]/giu, (char) => `&#x${char.codePointAt(0)?.toString(16) ?? ""};`),
  "upper-case hexadecimal HTML": (text) =>
    text.replace(/[&<>"'/=`]/g, (char) => `&#x${hex(char, 2).toUpperCase()};`),
  XML: (text) => html(text).replaceAll("'", "&apos;"),
  encodeURIComponent,
  "lower-case encodeURIComponent": (text) => lowerPercents(encodeURIComponent(text)),
  encodeURI,
  form: inForm,
  "lower-case form": (text) => lowerPercents(inForm(text)),
  "a form in JSON": (text) => json(inForm(text)),
  "a form in a form": (text) => inForm(inForm(text)),
  "UTF-8 read as Latin-1": asLatin1,
  "JSON of UTF-8 read as Latin-1": (text) => json(asLatin1(text)),
};

describe("an answer that sends a secret back", () => {
  it("is kept without the secret, in any of its forms", () => {
    const forms = [
      secret, JSON.stringify(secret), encodeURIComponent(secret), Buffer.from(secret).toString("base64"),
      Buffer.from(secret).toString("base64url"), secret.toLowerCase(),
    ];
    for (const form of forms) {
      const { body, headers } = masked(answer(`a${form}b${form}`, false, { [`x-${form}`]: form }), [secret]);
      const kept = { body, ...headers };
      expect(JSON.stringify(kept).replaceAll('\\"', "")).to.equal('{"body":"a***b***","x-***":"***"}');
    }
  });

  for (const [name, encode] of Object.entries(encoders)) {
    const unit = fc.constantFrom(..."aZ09 /+=&<>\"'\\%#;.:?`üß€😀".match(/./gu) ?? [], "\\/", "%2f", "&amp;", "\\u0026");
    // The decoded text still has four characters. The escape of a backslash at its end would stay.
    const chars = fc.array(unit, { maxLength: 24 }).map((units) => `Zx4f${units.join("")}`.replace(/\\+$/, ""));

    it(`is kept without the secret where ${name} escapes it`, () => {
      const shown = encode("sk/live+4f9a\\/Zx81 &q=='ü\"");
      expect(masked(answer(`§${shown}§`), ["sk/live+4f9a\\/Zx81 &q=='ü\""]).body).to.equal("§***§");
      fc.assert(fc.property(chars, (text) => {
        expect(masked(answer(`§${encode(text)}§`, false, { a: `§${encode(text)}` }), [text])).to.deep.equal(
          answer("§***§", false, { a: "§***" }),
        );
      }));
    });

    it(`is kept without the secret where ${name} escapes it in base64, or user and password`, () => {
      fc.assert(fc.property(chars, chars, (username, password) => {
        const { value, secrets } = authHeader({ type: "BasicAuth", username, password });
        expect(masked(answer(`§${encode(value)}§`), secrets).body).to.match(/^§Basic(?: |%20|\+|%2520|%2B)\*{3}§$/);
        expect(masked(answer(`§${encode(`${username}:${password}`)}§`), secrets).body).to.equal("§***§");
      }));
    });

    it(`is kept without a secret's beginning where ${name} escapes it and the body was cut off`, () => {
      fc.assert(fc.property(chars, fc.nat(), (text, any) => {
        const start = `sk-4${text}`;
        const whole = encode(start);
        const length = encode("sk-4").length + (any % (whole.length - encode("sk-4").length));
        expect(masked(answer(`said ${whole.slice(0, length)}`, true), [start]).body).to.equal("said ***");
      }));
    });
  }

  it("is kept without a secret in which another kind of escape follows an escaped byte", () => {
    expect(masked(answer(String.raw`§Zx4f\xdf%aa§`), ["Zx4fß%aa"]).body).to.equal("§***§");
  });

  it("is kept with every escape that is not part of a secret", () => {
    const body = String.raw`{"a\/b":"\u0026 ${"%"}2f &amp; sk\/live+4f9a%","b":"\"}`;
    expect(masked(answer(body), ["sk/live+4f9a"]).body).to.equal(body.replace("sk\\/live+4f9a", "***"));
  });

  it("is kept whole where its body was cut off and has no part of a secret, for any first characters", () => {
    const all = Array.from({ length: 0x5f }, (_, char) => String.fromCharCode(0x20 + char));
    for (const start of [...all, ...all.flatMap((one) => all.map((other) => one + other))]) {
      const body = `${start} is how it begins`;
      expect(masked(answer(body, true), ["D(@xsecret"]).body).to.equal(body);
    }
  });

  it("is kept without a secret's beginning where its body was cut off, and only there", () => {
    expect(masked(answer(`said ${secret.slice(0, 9)}`, true), [secret]).body).to.equal("said ***");
    expect(masked(answer(`said ${secret.slice(0, 9)}`), [secret]).body).to.equal(`said ${secret.slice(0, 9)}`);
    expect(masked(answer("said ca", true), [secret]).body).to.equal("said ca");
    const two = ["alexander:alex4711alex-and-more", "alex4711alex-and-more"];
    expect(masked(answer("said alex4711alex", true), two).body).to.equal("said ***");
  });

  it("is kept without the secret at any place of a long body", () => {
    const filler = "lorem ipsum ".repeat(500);
    const read = (body: string, truncated = false) => masked(answer(body, truncated), ["sk/live+4f9a"]).body;
    expect(read(`${filler}sk\\/live+4f9a${filler}`)).to.equal(`${filler}***${filler}`);
    expect(read(`${filler}sk\\/live`, true)).to.equal(`${filler}***`);
    expect(masked(answer("*=**=*, or *=**=*"), ["*=**=*"]).body).to.equal("***, or ***");
  });

  it("is kept as it is without a secret, or with a secret too short to be masked", () => {
    for (const secrets of [[], ["abc"], ["another secret"]]) {
      expect(masked(answer("abc abcd", true, { a: "abc" }), secrets)).to.deep.equal(
        answer("abc abcd", true, { a: "abc" }),
      );
    }
  });

  it("shows no part of a secret that contains another", () => {
    expect(masked(answer("user:user-and-more"), ["user", "user-and-more"]).body).to.equal("***:***");
  });

  it("shows no part of a secret that overlaps itself", () => {
    expect(masked(answer("said *=**=**=*, or so"), ["*=**=*"]).body).to.equal("said ***, or so");
    expect(masked(answer("said ab12ab12ab, or so"), ["ab12ab"]).body).to.equal("said ***, or so");
  });

  it("shows no end of an escape in which a secret seems to end", () => {
    expect(masked(answer("§aa&amp;a§"), ["aa&a"]).body).to.equal("§***§");
    expect(masked(answer("§key%2525§"), ["key%25"]).body).to.equal("§***§");
  });

  it("is kept without the secret where its headers are UTF-8 and its body is Latin-1", () => {
    const { secrets } = authHeader({ type: "BasicAuth", username: "björn", password: "pässwörd-geheim" });
    const said = "björn, not pässwörd-geheim";
    const { headers, body } = keptAnswer({
      answered: true, statusCode: 401, truncated: false,
      headers: { "X-User": asLatin1(said) }, body: Buffer.from(said, "latin1"),
    });
    expect(masked(answer(body, false, headers), secrets)).to.deep.equal(
      answer("***, not ***", false, { "x-user": "***, not ***" }),
    );
  });

  it("is kept without the secret where the text before makes an escape of the secret's beginning", () => {
    for (const before of ["100%", "\\x", "\\u00", "&#x", "&#"]) {
      expect(masked(answer(`${before}4142-4f9a-Zx81;`), ["4142-4f9a-Zx81;"]).body).to.equal(`${before}***`);
    }
  });

  it("is kept with characters that are no text where hardly another character of a secret would remain", () => {
    const { body } = masked(answer("\uFFFD".repeat(9) + "abc"), ["äöüßäöü", "üüüüabc"]);
    expect(body).to.equal("\uFFFD".repeat(9) + "abc");
  });

  it("is kept without the secret in a page that is full of escapes", () => {
    const filler = `<li style="width: 50%">C:\\\\temp &lt;a href=&quot;/?q=100%25%20safe&quot;&gt;</li>\n`.repeat(90);
    const { value, secrets } = authHeader({ type: "BasicAuth", username: "alice", password: "correct horse!" });
    const page = (shown: (text: string) => string) =>
      filler + html(json(`Authorization: ${shown(value)}`)) + filler + shown("correct horse!");
    const said = page((text) => text);
    expect(said).to.have.lengthOf.within(keptBodyBytes * 0.9, keptBodyBytes);
    for (const truncated of [true, false]) {
      expect(masked(answer(said, truncated), secrets).body).to.equal(
        page((text) => (text === value ? "Basic ***" : "***")),
      );
    }
  });

  it("masks the secrets of every kind of credentials", () => {
    const echoed = (header: ReturnType<typeof bearer>) =>
      masked(answer(JSON.stringify({ [header.name]: header.value })), header.secrets).body;
    expect(echoed(authHeader({ type: "ApiKey", headerName: "X-Key", value: secret }))).to.equal('{"X-Key":"***"}');
    expect(echoed(bearer("a.token.of-mine"))).to.equal('{"Authorization":"Bearer ***"}');
    const basic = authHeader({ type: "BasicAuth", username: "someone", password: secret });
    expect(echoed(basic)).to.equal('{"Authorization":"Basic ***"}');
    expect(masked(answer(`someone is not ${secret}`), basic.secrets).body).to.equal("*** is not ***");
  });
});
