import { expect } from "chai";
import { SignatureError, verifyDelivery } from "../../../packages/client/src/index.ts";
import { sign, signerOf, webhookSecret } from "../../../src/kernel/tools/signature.ts";

const secret = webhookSecret(Uint8Array.from({ length: 32 }, (_, index) => index * 7));
const former = webhookSecret(Uint8Array.from({ length: 32 }, (_, index) => index * 3));
const id = "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e01";
const body = '{"type":"order.paid","amount":19.90,"to":"Zoë"}';
const at = Date.parse("2026-01-01T00:00:00.000Z");
const now = () => at + 999;

/** The headers of a delivery, names in lower case as Node has them. */
function headersBy(by = secret, moment = at): Record<string, string> {
  const signed = Object.entries(sign(signerOf(by), id, moment, Buffer.from(body)));
  return Object.fromEntries(signed.map(([name, value]: [string, string]) => [name.toLowerCase(), value]));
}

const signatureBy = (by: string) => headersBy(by)["webhook-signature"] ?? "";

async function faultOf(verified: Promise<unknown>): Promise<string> {
  const error = await verified.then(() => expect.fail("it is believed"), (reason: unknown) => reason);
  expect(error).to.be.instanceOf(SignatureError);
  return (error as SignatureError).code;
}

describe("verifying a delivery", () => {
  it("accepts a delivery signed by the relay, and returns its id, its time and its JSON", async () => {
    expect(await verifyDelivery({ body, headers: headersBy() }, { secret, now })).to.deep.equal({
      id, signedAt: new Date(at), payload: { type: "order.paid", amount: 19.9, to: "Zoë" },
    });
  });

  it("takes the body as bytes or text, and headers of any kind", async () => {
    const bytes = new Uint8Array(Buffer.from(body));
    for (const headers of [
      headersBy(), new Headers(headersBy()), { ...sign(signerOf(secret), id, at, bytes) },
      { ...headersBy(), "Set-Cookie": ["a=1", "b=2"] },
    ]) {
      for (const sent of [body, bytes]) {
        expect((await verifyDelivery({ body: sent, headers }, { secret, now })).id).to.equal(id);
      }
    }
  });

  it("uses the platform's clock by default", async () => {
    expect((await verifyDelivery({ body, headers: headersBy(secret, Date.now()) }, { secret })).id).to.equal(id);
    expect(await faultOf(verifyDelivery({ body, headers: headersBy() }, { secret }))).to.equal("timestamp");
  });

  describe("while a secret is being replaced", () => {
    it("accepts a signature by any of the receiver's secrets", async () => {
      for (const by of [secret, former]) {
        const verified = await verifyDelivery({ body, headers: headersBy(by) }, { secret: [secret, former], now });
        expect(verified.id).to.equal(id);
      }
    });

    it("finds the valid signature among several, other versions and other texts", async () => {
      const listed = ["v1,AAAA", "v1a,AAAA", "v2,*", "", "v1,", signatureBy(former), signatureBy(secret)].join(" ");
      const headers = { ...headersBy(), "webhook-signature": listed };
      expect((await verifyDelivery({ body, headers }, { secret, now })).id).to.equal(id);
    });

    it("does not accept a signature by the former secret alone", async () => {
      const verified = verifyDelivery({ body, headers: headersBy(former) }, { secret, now });
      expect(await faultOf(verified)).to.equal("signature");
    });
  });

  describe("refuses for its signature", () => {
    const flipped = (good: string) => (good.at(5) === "A" ? "B" : "A");
    const cases: Readonly<Record<string, () => Parameters<typeof verifyDelivery>[0]>> = {
      "another body": () => ({ body: `${body} `, headers: headersBy() }),
      "another id": () => ({ body, headers: { ...headersBy(), "webhook-id": `${id}0` } }),
      "another moment": () => ({ body, headers: { ...headersBy(), "webhook-timestamp": String(at / 1_000 + 1) } }),
      "a changed signature": () => {
        const good = signatureBy(secret);
        const changed = good.slice(0, 5) + flipped(good) + good.slice(6);
        return { body, headers: { ...headersBy(), "webhook-signature": changed } };
      },
      "a signature without its end": () =>
        ({ body, headers: { ...headersBy(), "webhook-signature": signatureBy(secret).slice(0, -4) } }),
      "the right bytes under another version, and behind another separator": () => {
        const listed = ["v1a,", "v1;"].map((mark) => signatureBy(secret).replace("v1,", mark)).join(" ");
        return { body, headers: { ...headersBy(), "webhook-signature": listed } };
      },
      "a text that is no signature": () => ({ body, headers: { ...headersBy(), "webhook-signature": "v1,*** v1" } }),
    };
    for (const [name, delivery] of Object.entries(cases)) {
      it(name, async () => {
        expect(await faultOf(verifyDelivery(delivery(), { secret, now }))).to.equal("signature");
      });
    }
  });

  describe("refuses for its time", () => {
    for (const [seconds, tolerance, fault] of [
      [299, undefined, null], [300, undefined, null], [301, undefined, "timestamp"], [-300, undefined, null],
      [-301, undefined, "timestamp"], [11, 10, "timestamp"], [10, 10, null], [-11, 10, "timestamp"],
    ] as const) {
      const outcome = fault === null ? "nothing of" : "one of";
      it(`${outcome} ${seconds} s ago with a tolerance of ${tolerance ?? "300, the default,"} s`, async () => {
        const settings = { secret, now: () => at + seconds * 1_000, ...(tolerance === undefined ? {} : { tolerance }) };
        const verified = verifyDelivery({ body, headers: headersBy() }, settings);
        if (fault === null) expect((await verified).id).to.equal(id);
        else expect(await faultOf(verified)).to.equal(fault);
      });
    }

    it("an infinite one, with any tolerance", async () => {
      const verified = verifyDelivery({ body, headers: headersBy() }, { secret, now: () => NaN });
      expect(await faultOf(verified)).to.equal("timestamp");
    });
  });

  describe("refuses for its headers", () => {
    for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
      it(`one without ${name}, with an empty one, and with two`, async () => {
        const { [name]: value = "", ...rest } = headersBy();
        for (const headers of [rest, { ...rest, [name]: "" }, { ...rest, [name]: [value, value] }]) {
          expect(await faultOf(verifyDelivery({ body, headers }, { secret, now }))).to.equal("headers");
        }
      });
    }

    for (const moment of ["now", "-1", "1.5", "1e9", "0x10", "9".repeat(13), "2026-01-01T00:00:00Z"]) {
      it(`the webhook-timestamp ${moment}`, async () => {
        const headers = { ...headersBy(), "webhook-timestamp": moment };
        expect(await faultOf(verifyDelivery({ body, headers }, { secret, now }))).to.equal("headers");
      });
    }
  });

  for (const wrong of ["", "whsec_", "whsec_***", "sha256=00", []] as const) {
    it(`throws a TypeError that does not show the secret, for ${JSON.stringify(wrong)}`, async () => {
      const error: unknown =
        await verifyDelivery({ body, headers: headersBy() }, { secret: wrong, now }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(TypeError).with.property("message").that.matches(/^secret: (must|is)/);
    });
  }
});
