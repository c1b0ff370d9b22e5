import { expect } from "chai";
import fc from "fast-check";
import { keptAnswer, keptBodyBytes } from "../../../../src/delivery/requests/delivery-client.ts";
import { maskedAnswer, secretForms } from "../../../../src/delivery/requests/masking.ts";
import { authHeader, bearer } from "../../../../src/delivery/requests/request.ts";
import { standardKeyOf, webhookSecret } from "../../../../src/kernel/tools/signature.ts";

const answer = (body: string, truncated = false, headers: Record<string, string> = {}) =>
  ({ statusCode: 200, headers, body, truncated });

const signing = webhookSecret(Uint8Array.from({ length: 32 }, (_, index) => 251 - index * 7));
const basic = authHeader({ type: "BasicAuth", username: "björn%41", password: 'Correct "hörse" & <bättery>/+=?' });
const [pair = "", , username = "", password = ""] = basic.secrets;
/** Every secret that a delivery uses: its masked texts, its echo, and the masked echo. */
const kinds: Readonly<Record<string, readonly [secrets: readonly string[], echoed: string, shown: string]>> = {
  "an API key": [
    authHeader({ type: "ApiKey", headerName: "X-Key", value: "Key_4f9a/Zx+81=?&%25;q" }).secrets,
    "Key_4f9a/Zx+81=?&%25;q", "***",
  ],
  "a bearer token": [
    authHeader({ type: "BearerToken", token: "eyJhbGciOi.J9-_~+/==" }).secrets, "eyJhbGciOi.J9-_~+/==", "***",
  ],
  "a user": [basic.secrets, username, "***"],
  "a password": [basic.secrets, password, "***"],
  "user and password": [basic.secrets, pair, "***"],
  "an Authorization header": [basic.secrets, basic.value, "Basic ***"],
  "a fetched token": [bearer("fetched-Token.1", "client/Secret+2").secrets, "fetched-Token.1", "***"],
  "a client secret": [bearer("fetched-Token.1", "client/Secret+2").secrets, "client/Secret+2", "***"],
  "a signing secret": [[standardKeyOf(signing)], signing, "whsec_***"],
};

const names: Readonly<Record<string, string>> = {
  "&": "amp", "<": "lt", ">": "gt", '"': "quot", ö: "ouml", ä: "auml", "/": "sol", "+": "plus", "=": "equals",
  "?": "quest", ";": "semi", "%": "percnt", ".": "period", ":": "colon", _: "lowbar",
};
const code = (char: string) => char.codePointAt(0) ?? 0;
const hex = (number: number, width = 0) => number.toString(16).padStart(width, "0");
const percent = (bytes: Uint8Array) => Array.from(bytes, (byte) => `%${hex(byte, 2)}`).join("");
/** Ways to escape any character, with small hexadecimal digits. */
const escapes: Readonly<Record<string, (char: string) => string>> = {
  "\\u": (char) => `\\u${hex(code(char), 4)}`,
  "\\x": (char) => `\\x${hex(code(char), 2)}`,
  "\\x of UTF-8": (char) => percent(Buffer.from(char)).replaceAll("%", "\\x"),
  "% of UTF-8": (char) => percent(Buffer.from(char)),
  "% of Latin-1": (char) => percent(Buffer.from(char, "latin1")),
  "decimal HTML": (char) => `&#${code(char)};`,
  "decimal HTML with zeros": (char) => `&#${String(code(char)).padStart(7, "0")};`,
  "hexadecimal HTML": (char) => `&#x${hex(code(char))};`,
  "named HTML": (char) => (names[char] ? `&${names[char]};` : `&#${code(char)};`),
  "\\u in JSON": (char) => `\\\\u${hex(code(char), 4)}`,
  "\\u in JSON in JSON": (char) => `\\\\\\\\u${hex(code(char), 4)}`,
  "% in a form": (char) => percent(Buffer.from(char)).replaceAll("%", "%25"),
  "% in JSON": (char) => percent(Buffer.from(char)).replaceAll("%", "\\u0025"),
  "HTML on a page": (char) => `&amp;#${code(char)};`,
  "HTML in JSON": (char) => `\\u0026#${code(char)};`,
  "\\u in a form": (char) => `%5Cu${hex(code(char), 4)}`,
  "\\u on a page": (char) => `&#92;u${hex(code(char), 4)}`,
};
/** The digits of escapes in capitals; the letter of an escape's kind stays small. */
const inCapitals = (text: string) => text.replace(/(?<=[%ux25])[0-9a-f]{2,4}/g, (digits) => digits.toUpperCase());
const cases = { "small digits": (text: string) => text, capitals: inCapitals };

/** Every name that HTML has for a character of ASCII, and some of others: long ones, and of two characters. */
const htmlNames: Readonly<Record<string, string>> = {
  "!": "excl", '"': "quot QUOT", "#": "num", $: "dollar", "%": "percnt", "&": "amp AMP", "'": "apos", "(": "lpar",
  ")": "rpar", "*": "ast midast", "+": "plus", ",": "comma", ".": "period", "/": "sol", ":": "colon", ";": "semi",
  "<": "lt LT", "=": "equals", ">": "gt GT", "?": "quest", "@": "commat", "[": "lsqb lbrack", "\\": "bsol",
  "]": "rsqb rbrack", "^": "Hat", _: "lowbar UnderBar", "`": "grave DiacriticalGrave", "{": "lcub lbrace",
  "|": "verbar vert VerticalLine", "}": "rcub rbrace", fj: "fjlig",
  Ö: "Ouml", ö: "ouml", é: "eacute", "½": "frac12 half",
  "¹": "sup1", "€": "euro", "∳": "CounterClockwiseContourIntegral awconint", "𝔸": "Aopf", "≫⃒": "nGt",
};

describe("every secret of a delivery in every encoding", () => {
  for (const [char, known] of Object.entries(htmlNames)) {
    it(`masks a secret with ${char} by each of its names in HTML: ${known}`, () => {
      const forms = secretForms([`Key${char}4f9aZx81`]);
      for (const name of known.split(" ")) {
        for (const reference of [`&${name};`, `&amp;${name};`, `\\u0026${name};`, `%26${name}%3B`]) {
          const echoed = `§Key${reference}4f9aZx81§`;
          expect(maskedAnswer(answer(echoed), forms).body, echoed).to.equal("§***§");
        }
        const cutOff = `said Key4&${name}`;
        expect(maskedAnswer(answer(cutOff, true), secretForms([`Key4${char}rest`])).body, cutOff).to.equal("said ***");
      }
    });
  }

  it("leaves names that HTML does not know", () => {
    const body = "§Key&nothing;4f9a &notit; &a; &zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz;§";
    expect(maskedAnswer(answer(body), secretForms(["Key/4f9a"])).body).to.equal(body);
  });

  for (const [kind, [secrets, echoed, shown]] of Object.entries(kinds)) {
    const forms = secretForms(secrets);
    const shows = (text: string, as = shown) => {
      expect(maskedAnswer(answer(`§${text}§`), forms).body, text).to.equal(`§${as}§`);
      expect(maskedAnswer(answer("", false, { [`x-${text}`]: `§${text}§` }), forms).headers, text)
        .to.deep.equal({ [`x-${as}`]: `§${as}§` });
    };

    for (const [encoding, escape] of Object.entries(escapes)) {
      const whole = [...echoed].map(escape).join("");

      it(`masks ${kind} where every character is written as ${encoding}`, () => {
        const prefix = [...shown.slice(0, -"***".length)].map(escape).join("");
        for (const write of Object.values(cases)) shows(write(whole), `${write(prefix)}***`);
      });

      it(`masks ${kind} where some characters are written as ${encoding}`, () => {
        const some = fc.array(fc.boolean(), { minLength: echoed.length, maxLength: echoed.length });
        fc.assert(fc.property(some, fc.constantFrom(...Object.values(cases)), (chosen, write) => {
          const text = [...echoed].map((char, at) => (chosen[at] ? write(escape(char)) : char)).join("");
          const { body } = maskedAnswer(answer(`§${text}§`), forms);
          expect(body, text).to.match(/^§.{0,64}\*\*\*§$/s).and.to.not.include(echoed.slice(-8));
          if (shown === "***") expect(body).to.equal("§***§");
        }), { numRuns: 25 });
      });

      it(`masks the beginning of ${kind} where the body was cut off within ${encoding}`, () => {
        const plain = echoed.slice(shown.length - "***".length);
        const text = [...plain].map(escape).join("");
        const least = [...plain].slice(0, 4).map(escape).join("").length;
        for (let end = least; end <= text.length; end += 1) {
          const kept = text.slice(0, end);
          expect(maskedAnswer(answer(`said ${kept}`, true), forms).body, kept).to.equal("said ***");
        }
      });
    }

    it(`masks ${kind} where every character is written in another way`, () => {
      // One text is either UTF-8 or Latin-1.
      const names = Object.keys(escapes).filter((name) => !name.includes("Latin-1") && !name.startsWith("\\x"));
      const ways = fc.array(fc.constantFrom(...names), { minLength: echoed.length, maxLength: echoed.length });
      fc.assert(fc.property(ways, (way) => {
        const text = [...echoed].map((char, at) => escapes[way[at] ?? ""]?.(char) ?? char).join("");
        expect(maskedAnswer(answer(`§${text}§`), forms).body, text).to.match(/^§.*\*\*\*§$/s)
          .and.to.have.length.below(shown === "***" ? 6 : 130);
      }), { numRuns: 50 });
    });

    it(`masks ${kind} in base64, at any place of the encoded text`, () => {
      for (const encoding of ["base64", "base64url"] as const) {
        for (const before of ["", "a", "ab", "abc", '{"key":"']) {
          for (const after of ["", "z", "yz", "xyz", '"}']) {
            const text = Buffer.from(before + echoed + after).toString(encoding);
            const secret = Buffer.from(echoed.slice(shown.length - "***".length)).toString(encoding).slice(4, -4);
            for (const written of [text, encodeURIComponent(text), JSON.stringify(text).replaceAll("/", "\\/")]) {
              const { body } = maskedAnswer(answer(`${written}`), forms);
              expect(body, written).to.include("***").and.to.not.include(secret);
            }
          }
        }
        const alone = Buffer.from(echoed).toString(encoding);
        if (shown === "***") shows(alone);
      }
    });

    it(`masks ${kind} in Latin-1 that is read as UTF-8, and the reverse`, () => {
      const { headers, body } = keptAnswer({
        answered: true, statusCode: 200, truncated: false,
        headers: { "x-echo": Buffer.from(echoed).toString("latin1") }, body: Buffer.from(echoed, "latin1"),
      });
      const masked = maskedAnswer(answer(body, false, headers), forms);
      expect([masked.headers["x-echo"], masked.body]).to.deep.equal([shown, shown]);
    });

    it(`masks ${kind} where the kept part of the body ends in the middle of it`, () => {
      const key = echoed.slice(shown.length - "***".length);
      for (let kept = 4; kept < key.length; kept += 1) {
        const filler = "-".repeat(keptBodyBytes - Buffer.byteLength(key.slice(0, kept)));
        const bytes = Buffer.from(filler + key).subarray(0, keptBodyBytes);
        const { body } = keptAnswer({ answered: true, statusCode: 200, headers: {}, body: bytes, truncated: true });
        expect(maskedAnswer(answer(body, true), forms).body).to.equal(`${filler}***`);
      }
    });
  }
});

describe("a hostile answer", () => {
  const everyEscape = "\\\\u005c%255c&#37;41&amp;#92;";
  const both = (username: string, password: string) => authHeader({ type: "BasicAuth", username, password }).secrets;
  const hostile: Readonly<Record<string, readonly [secrets: readonly string[], body: string]>> = {
    "half a password in every reading": [both("alice", "correct horse!"), everyEscape + "correct ".repeat(2048)],
    "signs that a password almost is": [both("!".repeat(4000), "?".repeat(4000)), `${"!".repeat(3999)}x`.repeat(4)],
    "beginnings of one secret after the other": [["-".repeat(4000)], "-".repeat(keptBodyBytes)],
    "secrets that are long themselves": [
      both("É! ".repeat(1300), "Ü ?".repeat(1300)), everyEscape + "é!ü+? ".repeat(2700),
    ],
    "nothing but escapes": [both("alice", "correct horse!"), "alice" + "\\\\%5c&amp;&#92;".repeat(1024)],
    "escapes of escapes": [both("alice", "correct horse!"), "alice" + "&#37;5ca".repeat(2048)],
    "a backslash before every character": [both("aaaa".repeat(1000), "aaaa".repeat(900)), "\\a".repeat(8192)],
    "one run of backslashes": [both("aaaa".repeat(1000), "aaaa".repeat(900)), "\\".repeat(keptBodyBytes)],
    "one escaped percent sign": [both("aaaa".repeat(1000), "aaaa".repeat(900)), `%c3%${"25".repeat(8191)}`],
    "percent signs that begin nothing": [both("aaaa".repeat(1000), "aaaa".repeat(900)), "%e4%f0%25".repeat(1820)],
    "one escaped ampersand": [both("aaaa".repeat(1000), "aaaa".repeat(900)), `&${"amp;".repeat(4095)}`],
    "base64 of periodic secrets": [
      both("aaaa".repeat(1000), "aaaa".repeat(900)), Buffer.from("aaaa".repeat(4000)).toString("base64"),
    ],
    "UTF-8 in percent signs": [both("ääää".repeat(500), "ää".repeat(900)), "%C3%A4".repeat(2730)],
  };
  const headers = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`x-${index}`, "aaaa%41".repeat(18)]));

  for (const [what, [secrets, body]] of Object.entries(hostile)) {
    it(`is masked in some milliseconds: ${what}`, () => {
      const forms = secretForms([...secrets, standardKeyOf(signing)]);
      for (const truncated of [true, false]) {
        const given = answer(body.slice(0, keptBodyBytes), truncated, headers);
        // The fastest of several runs: a busy machine slows some of them, but not all.
        const took = Array.from({ length: 20 }, () => {
          const before = performance.now();
          maskedAnswer(given, forms);
          return performance.now() - before;
        });
        expect(Math.min(...took)).to.be.below(25);
      }
    });
  }
});
