import { expect } from "chai";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, startTestRelay, type TestRelay } from "../support/relay.ts";

/** Names of members of every JavaScript object, one of which sets the prototype. */
const names = ["__proto__", "constructor", "tostring", "hasownproperty", "__definegetter__", "valueof"];

describe("S4 headers named like JavaScript's own, in answers to a running relay", () => {
  let receiver: Receiver;
  let relay: TestRelay;
  beforeEach(async () => {
    receiver = await startReceiver();
    relay = await startTestRelay(receiver);
  });
  afterEach(async () => {
    await relay.close();
    await receiver.close();
  });

  it("are kept, masked and shown like any other", async () => {
    const account = await openAccount(relay.url);
    const key = "a-secret-that-comes-back";
    const headers = Object.fromEntries(names.map((name) => [name, `of ${name}, ${key}`]));
    receiver.on("/odd", () => ({ headers }));
    const { ingest } = await account.destination({
      url: receiver.url("/odd"), authType: "ApiKey", credentials: { headerName: "X-Key", value: key },
    });
    const { eventId } = await account.producer.post(ingest, {});
    const path = `/api/v1/events/${String(eventId)}`;
    await eventually(() => account.owner.get(path), ({ status }) => status === "Succeeded");
    const { items } = (await account.owner.get(`${path}/attempts`)) as { items: { responseHeaders: object }[] };
    const shown = Object.entries(items[0]?.responseHeaders ?? {});
    for (const name of names) expect(shown.find(([one]) => one === name)?.[1], name).to.match(/^of /);
    expect(JSON.stringify(items)).to.not.include(key);
  });
});
