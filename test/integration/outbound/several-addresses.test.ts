import { Socket } from "node:net";
import { expect } from "chai";
import type { OutboundSettings } from "../../../src/engines/outbound/client.ts";
import { startDeafListener, type DeafListener } from "../../support/deaf-listener.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { makeAuthority, makeSelfSigned } from "../../support/tls.ts";
import { localClient, request } from "./setup.ts";

/** The time until the kernel repeats its first packet, milliseconds. */
const secondPacketMs = 1_000;

describe("a host of several addresses", () => {
  const authority = makeAuthority();
  let receiver: Receiver;
  let open: (() => Promise<void>)[];

  beforeEach(async () => {
    receiver = await startReceiver({ authority, certifiedFor: ["hook.example"] });
    open = [() => receiver.close()];
  });
  afterEach(async () => {
    for (const close of open.reverse()) await close();
  });

  /** A listener at the receiver's port that drops requests for a connection until `hear()`. */
  const deaf = async (host: string, delayMs = 0): Promise<DeafListener> => {
    const listener = await startDeafListener(host, receiver.port, { forwardTo: receiver.port, delayMs });
    open.push(() => listener.close());
    return listener;
  };
  /** Calls a name with these addresses; returns the outcome, the time it took, and the sockets that it opened. */
  const call = async (addresses: readonly string[], settings: Partial<OutboundSettings> = {}) => {
    const sockets: { readonly socket: Socket; readonly host: string }[] = [];
    const connect = Object.getOwnPropertyDescriptor(Socket.prototype, "connect") ?? {};
    Object.defineProperty(Socket.prototype, "connect", {
      ...connect,
      value(this: Socket, options: { readonly host: string }) {
        sockets.push({ socket: this, host: options.host });
        return (connect.value as typeof this.connect).call(this, options as never);
      },
    });
    const allowedNetworks = ["127.0.0.0/8", "ff00::/8", "::1/128"];
    const client = localClient(authority.caPem, { resolve: async () => addresses, allowedNetworks, ...settings });
    const startedAt = performance.now();
    try {
      const outcome = await client.post(request(receiver.url("/", "hook.example")));
      return { outcome, tookMs: performance.now() - startedAt, sockets };
    } finally {
      Object.defineProperty(Socket.prototype, "connect", connect);
      await client.close();
    }
  };

  it("is reached although the first packet to one is lost and the other never answers", async () => {
    for (const addresses of [["127.0.0.2", "127.0.0.3"], ["127.0.0.3", "127.0.0.2"]]) {
      const [lossy] = [await deaf("127.0.0.2"), await deaf("127.0.0.3")];
      const calling = call(addresses);
      setTimeout(() => lossy.hear(), secondPacketMs / 2);
      const { outcome, tookMs, sockets } = await calling;
      expect(outcome).to.include({ statusCode: 200 });
      expect(tookMs).to.be.within(secondPacketMs - 300, 2.5 * secondPacketMs);
      expect(sockets.map(({ host }) => host)).to.have.members(addresses);
      for (const close of open.splice(1)) await close();
    }
  });

  it("has its next address tried a quarter of a second after a silent one", async () => {
    await deaf("127.0.0.2");
    const { outcome, tookMs } = await call(["127.0.0.2", "127.0.0.1"]);
    expect(outcome).to.include({ statusCode: 200 });
    expect(tookMs).to.be.within(240, 900);
  });

  it("is given the time for connecting once more for the TLS handshake", async () => {
    const distant = await deaf("127.0.0.2", 900);
    const calling = call(["127.0.0.2"], { connectTimeoutMs: 1_400 });
    setTimeout(() => distant.hear(), secondPacketMs / 2);
    const { outcome, tookMs } = await calling;
    expect(outcome).to.include({ statusCode: 200 });
    expect(tookMs).to.be.above(1_400);
  });

  it("is reached at the last of many addresses, all tried in the first third of the time", async () => {
    await deaf("127.0.0.2");
    const silent = Array.from({ length: 31 }, () => "127.0.0.2");
    const { outcome, tookMs, sockets } = await call([...silent, "127.0.0.1"], { connectTimeoutMs: 1_800 });
    expect(outcome).to.include({ statusCode: 200 });
    expect(tookMs).to.be.below(1_500);
    expect(sockets).to.have.length(32);
  });

  it("has its next address tried at once when one refuses", async () => {
    const refusing = Array.from({ length: 20 }, (_, index) => `127.0.1.${index + 1}`);
    const { outcome, tookMs } = await call([...refusing, "127.0.0.1"], { connectTimeoutMs: 60_000 });
    expect(outcome).to.include({ statusCode: 200 });
    expect(tookMs).to.be.below(1_000);
  });

  it("has its families tried in turn, in the order of the name's answer", async () => {
    await receiver.close();
    const addresses = ["::1", "ff0e::1", "ff0e::2", "127.0.1.1", "127.0.1.2"];
    const { sockets } = await call(addresses);
    expect(sockets.map(({ host }) => host)).to.deep.equal(["::1", "127.0.1.1", "ff0e::1", "127.0.1.2", "ff0e::2"]);
  });

  it("leaves only the winner's socket open", async () => {
    await deaf("127.0.0.2");
    const { sockets } = await call(["127.0.0.2", "127.0.1.1", "127.0.0.2", "127.0.0.1"]);
    const left = sockets.filter(({ socket }) => !socket.destroyed);
    expect(left.filter(({ host }) => host !== "127.0.0.1")).to.be.empty;
    const { outcome, sockets: all } = await call(["127.0.0.2", "127.0.0.2"], { connectTimeoutMs: 300 });
    expect(outcome).to.deep.equal(
      { answered: false, reason: "timeout", error: "no connection within 300 ms", connected: false });
    expect(all.every(({ socket }) => socket.destroyed)).to.equal(true);
  });

  it("reports the most specific error if no address can be connected to, and has at most 32 tried", async () => {
    await receiver.close();
    for (const addresses of [["127.0.1.1", "ff0e::1"], ["ff0e::1", "127.0.1.1"]]) {
      expect((await call(addresses)).outcome).to.include({ error: "the connection was refused", connected: false });
    }
    expect((await call(["ff0e::1"])).outcome).to.include({ error: "the network cannot be reached" });
    const { sockets } = await call(Array.from({ length: 200 }, (_, index) => `127.0.1.${index + 1}`));
    expect(sockets).to.have.length(32);
  });

  it("is not tried at another address after a TLS handshake that failed", async () => {
    const impostor = await startReceiver({
      host: "127.0.0.2", port: receiver.port, authority: { ...authority, issue: () => makeSelfSigned() },
    });
    open.push(() => impostor.close());
    const { outcome, sockets } = await call(["127.0.0.2", "127.0.0.1"]);
    expect(outcome).to.include({ reason: "tls", error: "the certificate is self-signed" });
    expect(sockets).to.have.length(1);
    expect(receiver.connections).to.equal(0);
  });
});
