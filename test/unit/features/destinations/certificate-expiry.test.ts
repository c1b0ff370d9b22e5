import { expect } from "chai";
import { CertificateExpiry } from "../../../../src/features/destinations/certificates/worker.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { dayMs, millis } from "../../../../src/kernel/domain/time.ts";
import { createTenant, login } from "../../../support/accounts.ts";
import { certificatesOf, type TestCertificate } from "../../../support/certificates.ts";
import { ManualRelay, never } from "../../../support/manual-relay.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

const certificates = certificatesOf();
const noticeMs = 14 * dayMs;

describe("the coming expiry of a client certificate", () => {
  let relay: ManualRelay;
  let expiry: CertificateExpiry;
  beforeEach(async () => {
    relay = await ManualRelay.open();
    expiry = new CertificateExpiry({ ...relay.api.world, logger: quiet, metrics: uncounted });
  });
  afterEach(() => relay.close());

  const run = async (isOver = never) => {
    await relay.drained();
    await expiry.run(isOver);
    await relay.drained();
  };
  const destination = async ({ pair: clientCertificate }: TestCertificate) => {
    const { owner } = await createTenant(relay.api.url);
    const url = "https://receiver.example/hook";
    const { id } = await owner.client.api.createDestination({ url, clientCertificate });
    return { id, email: owner.email };
  };
  const apiOf = async ({ email }: { readonly email: string }) => (await login(relay.api.url, email)).api;
  const recorded = async ({ id }: { readonly id: string }) =>
    (await relay.store.readStream(streams.destination(id)))
      .filter(({ type }) => type === "DestinationCertificateExpiring").length;
  const until = (time: number) => relay.clock.advance(time - relay.clock.now());

  it("is recorded 14 days before its end, once", async () => {
    const certificate = certificates();
    const expiring = await destination(certificate);
    const notice = millis(certificate.shown.notAfter) - noticeMs;
    until(notice - 60_000);
    await run();
    expect(await recorded(expiring)).to.equal(0);
    until(notice);
    await run(() => true);
    expect(await recorded(expiring)).to.equal(0);
    await run();
    await run();
    expect(await recorded(expiring)).to.equal(1);
  });

  it("is recorded again for the next certificate, and not for a removed one or a deleted destination", async () => {
    const [first, second] = [certificates(), certificates(40 * dayMs)];
    const [replaced, removed, deleted] = [await destination(first), await destination(first), await destination(first)];
    await (await apiOf(removed)).updateDestination({ id: removed.id }, { clientCertificate: null });
    await (await apiOf(deleted)).deleteDestination({ id: deleted.id });
    until(millis(first.shown.notAfter) - noticeMs);
    await run();
    expect(await Promise.all([replaced, removed, deleted].map(recorded))).to.deep.equal([1, 0, 0]);
    await (await apiOf(replaced)).updateDestination({ id: replaced.id }, { clientCertificate: second.pair });
    await run();
    expect(await recorded(replaced)).to.equal(1);
    until(millis(second.shown.notAfter) - noticeMs);
    await run();
    expect(await recorded(replaced)).to.equal(2);
  });
});
