import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { configWarnings, readConfig } from "../../../../src/main/config/config.ts";
import { makeAuthority } from "../../../support/tls.ts";

const dayMs = 86_400_000;
const good = makeAuthority().caPem;
const block = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
/** An authority with an RSA key of 1,024 bits, until 2126. */
const weak = block("CERTIFICATE", [
  "MIIB/DCCAWWgAwIBAgIUZ60sDrCPOOyuEfVwZIOq4++r9kswDQYJKoZIhvcNAQELBQAwDzENMAsGA1UEAwwEd2VhazAgFw0yNjEx",
  "MjYwMDQwNDFaGA8yMTI2MTEwMjAwNDA0MVowDzENMAsGA1UEAwwEd2VhazCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEAywN0",
  "Hz3PZxscmPzanJL55cQYC/BbTqpvoK9o7F3HuDfJ4jfKR35J0S6QTu0fYpzcJOzsWB1AKUmuFb1FSE810xPrAzsUdPHf0LRecvnB",
  "FTquX4Z7RZSBdN4jVV3ec3q8X/g98G1h4ftEGBi/r57+uyF8LThaCOoy0Pps8i8XB4MCAwEAAaNTMFEwHQYDVR0OBBYEFJwe4OZO",
  "nYWcKfyLW3vOJOP4OJF9MB8GA1UdIwQYMBaAFJwe4OZOnYWcKfyLW3vOJOP4OJF9MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcN",
  "AQELBQADgYEAeGBla6ac7n1QYRZ+mHNTSmFZaxyU+mQaLHzzAIQ6ZI1jeHrurou/Mv5m8hjgzbNvjSxc1FhchTgkN0oOoBMXn9YP",
  "7b5OO3DQFBg8gubZkYZzTPmloKcikiNbn2x+GVseIfM4NmibPO9JMPsx2TjOf2hGfOebpg50RZPutr91eE4=",
].join(""));

describe("a certificate file", () => {
  let folder: string;
  let file: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "relay-certificates-"));
    file = join(folder, "ca.pem");
  });
  after(() => rmSync(folder, { recursive: true }));

  const read = (content: string | Buffer) => {
    writeFileSync(file, content);
    return readConfig({ RELAY_EXTRA_CA_FILE: file });
  };
  const warnings = (content: string, now: number) => {
    const env = { RELAY_EXTRA_CA_FILE: file };
    return configWarnings(env, read(content), now);
  };

  const broken: Readonly<Record<string, readonly [content: string | Buffer, says: string]>> = {
    nothing: ["", "holds no certificate"],
    text: ["no certificate", "holds no certificate"],
    "a private key alone": [block("PRIVATE KEY", "AAAA"), "holds no certificate, only PRIVATE KEY"],
    DER: [Buffer.from(good.replace(/-----.*-----/g, ""), "base64"), "is DER"],
    "UTF-16": [Buffer.from(good, "utf16le"), "holds no certificate"],
    "a certificate that is none": [good + block("CERTIFICATE", "AAAA"), "certificate 2 in"],
    "an empty block": [good + block("CERTIFICATE", ""), "certificate 2 in"],
    "a certificate cut off": [good + good.slice(0, 300), "certificate 2 in"],
    "a certificate without its end": [good.replace(/-----END.*/, "") + good, "certificate 1 in"],
    "a certificate that lost a line": [good.replace(/\n[^\n]{64}\n/, "\n"), "certificate 1 in"],
    "joined to a broken one": [good.trimEnd() + block("CERTIFICATE", "AAAA"), "certificate 2 in"],
  };
  const one = good.trimEnd();
  const other = makeAuthority().caPem.trimEnd();
  const both: Readonly<Record<string, string>> = {
    "a line break": `${one}\n${other}`,
    "a line break of Windows": `${one}\r\n${other}`,
    nothing: `${one}${other}`,
    "a blank": `${one} ${other}`,
    "a tab": `${one}\t${other}`,
    "several blanks": `${one}   \t ${other}`,
    "text on the line of BEGIN": `${one}\nsubject=CN = other ${other}`,
    "text on the line of END and of BEGIN": `${one} # the other: ${other} # the end`,
    "a byte order mark": `\uFEFF${one}\n\uFEFF${other}`,
    "a byte order mark and text": `\uFEFFfirst ${one}\nsecond ${other}`,
    "a comment with a certificate": `${one}\n${other.replace(/^/gm, "# ")}\n${other}`,
  };
  for (const [what, content] of Object.entries(both)) {
    it(`gives both of two certificates with ${what} before or between them, in a form that TLS takes`, () => {
      const { extraCa } = read(content).outbound;
      const fingerprints = [one, other].map((pem) => new X509Certificate(pem).fingerprint256);
      expect(extraCa?.parsed.map(({ fingerprint256 }) => fingerprint256)).to.deep.equal(fingerprints);
      expect(extraCa?.pem).to.equal(`${one}\n${other}\n`);
    });
  }

  for (const [what, marker] of [
    ["four dashes", "----BEGIN CERTIFICATE-----"], ["small letters", "-----begin certificate-----"],
    ["a blank before its word", "----- BEGIN CERTIFICATE -----"], ["no dashes behind it", "-----BEGIN CERTIFICATE"],
    ["dashes of another kind", "\u2013\u2013BEGIN CERTIFICATE\u2013\u2013"],
  ] as const) {
    it(`stops the start where the marker of a second certificate has ${what}`, () => {
      const misspelt = other.replace("-----BEGIN CERTIFICATE-----", marker);
      for (const content of [`${one}\n${misspelt}`, `${misspelt}\n${one}`]) {
        expect(() => read(content)).to.throw(/^RELAY_EXTRA_CA_FILE: must be a PEM file, but [^\n]+$/);
      }
    });
  }

  for (const [what, [content, says]] of Object.entries(broken)) {
    it(`stops the start where it holds or is ${what}`, () => {
      expect(() => read(content)).to.throw(/^RELAY_EXTRA_CA_FILE: must be a PEM file, but [^\n]+$/).with.property("message")
        .that.includes(says);
    });
  }

  it("is named in a warning for each certificate that cannot be trusted, and each block that is no certificate", () => {
    const now = Date.now();
    expect(warnings(good, now)).to.deep.equal([]);
    expect(warnings(good + good, now + 40 * dayMs)).to.have.length(2);
    expect(warnings(good, now + 40 * dayMs)[0]).to.match(
      /^RELAY_EXTRA_CA_FILE: certificate 1 \(CN=throwaway [^\n]+\) is not trusted: it expired [A-Z][^\n]+ GMT$/);
    expect(warnings(good, now - 2 * dayMs)[0]).to.include("is not trusted yet: it is valid from");
    expect(warnings(good + weak, now)).to.deep.equal(
      ["RELAY_EXTRA_CA_FILE: certificate 2 (CN=weak) is not trusted: its key is shorter than 2048 bits"]);
    const others = block("PRIVATE KEY", "c2VjcmV0") + block("X509 CRL", "AAAA");
    expect(warnings(others + good, now)).to.deep.equal([
      "RELAY_EXTRA_CA_FILE: holds a block PRIVATE KEY, which is not used",
      "RELAY_EXTRA_CA_FILE: holds a block X509 CRL, which is not used",
    ]);
  });

  it("is checked for Kafka as well", () => {
    writeFileSync(file, good + block("X509 CRL", "AAAA"));
    const env = {
      RELAY_QUEUE: "kafka", RELAY_KAFKA_BROKERS: "k:9092", RELAY_KAFKA_TLS: "true", RELAY_KAFKA_CA_FILE: file,
    };
    expect(configWarnings(env, readConfig(env), Date.now())).to.deep.equal(
      ["RELAY_KAFKA_CA_FILE: holds a block X509 CRL, which is not used"]);
  });
});
