import { createServer, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import gossip from "@eventstore/db-client/generated/gossip_grpc_pb.js";
import clusterGossip from "@eventstore/db-client/generated/gossip_pb.js";
import features from "@eventstore/db-client/generated/serverfeatures_grpc_pb.js";
import featuresPb from "@eventstore/db-client/generated/serverfeatures_pb.js";
import streams from "@eventstore/db-client/generated/streams_grpc_pb.js";
import type { IStreamsServer } from "@eventstore/db-client/generated/streams_grpc_pb.js";
import streamsPb from "@eventstore/db-client/generated/streams_pb.js";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import { batchAppend } from "./batch-append.ts";
import { Database } from "./database.ts";
import { deleteStream, tombstone } from "./deletes.ts";
import { Faults } from "./faults.ts";
import { Journal } from "./journal.ts";
import { failure, handlerThrew } from "./messages.ts";
import { CallFailure, readAll, readStream, type ReadCall } from "./reads.ts";
import { behaviours, type Release } from "./release.ts";
import { append } from "./single-append.ts";
import { subscribeToAll, subscribeToStream } from "./subscriptions.ts";

export interface ServerOptions {
  /** Any free one when left out. */
  readonly port?: number;
  /** Keeps the changes for the next server on the same file; they are in memory alone when left out. */
  readonly file?: string;
  /** 23.10 when left out. */
  readonly release?: Release;
}

/** An EventStoreDB to its clients: insecure, a single node, without persistent subscriptions and projections. */
export class EventStoreDbServer {
  readonly faults = new Faults();
  readonly database: Database;
  readonly #release: Release;
  readonly #journal: Journal | undefined;
  readonly #grpc = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  readonly #reads = new Set<ReadCall>();
  readonly #sockets = new Set<Socket>();
  /** Connections that clients have made. */
  connections = 0;
  #listener: NetServer | undefined;
  #port: number;

  static async start(options: ServerOptions = {}): Promise<EventStoreDbServer> {
    const server = new EventStoreDbServer(options);
    await server.listen();
    return server;
  }

  private constructor({ port = 0, file, release = "23.10" }: ServerOptions) {
    this.#port = port;
    this.#release = release;
    this.database = new Database((change) => this.#journal?.write(change), () => this.faults.reappearingMs);
    this.#journal = file === undefined ? undefined : new Journal(file, (change) => this.database.apply(change));
    this.#serve();
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.#port}?tls=false`;
  }

  /** Reads and subscriptions that have not ended. */
  get openReads(): number {
    return this.#reads.size;
  }

  /** How many of them are subscriptions. */
  get openSubscriptions(): number {
    return [...this.#reads].filter(({ request }) => request.getOptions()?.hasSubscription()).length;
  }

  /** Takes connections, at the same port as before. */
  async listen(): Promise<void> {
    const injector = this.#grpc.createConnectionInjector(ServerCredentials.createInsecure());
    const listener = createServer({ noDelay: true }, (socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => undefined);
      injector.injectConnection(socket);
    });
    await new Promise<void>((resolve, reject) => {
      listener.once("error", reject);
      listener.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = (listener.address() as AddressInfo).port;
    this.#listener = listener;
  }

  /** Takes no new connections. */
  async stopListening(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    if (listener) await new Promise<void>((resolve) => listener.close(() => resolve()));
  }

  /** Breaks every connection off; later ones are served. */
  breakConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Breaks every connection off and takes no more, until `listen`. */
  async kill(): Promise<void> {
    const closed = this.stopListening();
    this.breakConnections();
    await closed;
  }

  /** Ends live calls the way a server does that shuts down, and takes no connections until `listen`. */
  async stopGracefully(): Promise<void> {
    const closed = this.stopListening();
    for (const call of this.#reads) {
      call.emit("error", failure(
        status.INTERNAL, "Received RST_STREAM with code 0 (Call ended without gRPC status)",
      ));
    }
    await new Promise((resolve) => setImmediate(resolve));
    this.breakConnections();
    await closed;
  }

  /** Removes from $all the events that streams no longer show: all of them, or those before a position. */
  scavenge(before?: bigint): void {
    this.database.scavenge(before);
  }

  async close(): Promise<void> {
    this.faults.thaw();
    await this.kill();
    this.#grpc.forceShutdown();
    this.#journal?.close();
  }

  #serve(): void {
    const { database, faults } = this;
    const calls: IStreamsServer = {
      read: (call) => void this.#read(call),
      append: (call, reply) => append(database, faults, call, reply),
      batchAppend: (call) => batchAppend(database, faults, call),
      delete: (call, reply) => void this.#thawed(() => deleteStream(database, call, reply)),
      tombstone: (call, reply) => void this.#thawed(() => tombstone(database, call, reply)),
    };
    this.#grpc.addService(streams.StreamsService, calls);
    this.#grpc.addService(features.ServerFeaturesService, {
      getSupportedMethods: (_call: unknown, reply: (error: null, methods: featuresPb.SupportedMethods) => void) => {
        void this.#thawed(() => reply(null, supportedMethods(behaviours[this.#release].version)));
      },
    });
    this.#grpc.addService(gossip.GossipService, {
      read: (_call: unknown, reply: (error: null, cluster: clusterGossip.ClusterInfo) => void) => {
        void this.#thawed(() => reply(null, this.#cluster()));
      },
    });
  }

  async #thawed(answer: () => void): Promise<void> {
    if (this.faults.frozen) await this.faults.frozen;
    answer();
  }

  async #read(call: ReadCall): Promise<void> {
    this.#reads.add(call);
    call.on("error", () => undefined);
    try {
      if (this.faults.frozen) await this.faults.frozen;
      if (this.faults.refusedReads) throw new CallFailure({ code: status.UNKNOWN, ...this.faults.refusedReads });
      await this.#answer(call, call.request.getOptions() ?? new streamsPb.ReadReq.Options());
      call.end();
    } catch (error) {
      call.emit("error", error instanceof CallFailure ? error.answer : handlerThrew);
    } finally {
      this.#reads.delete(call);
    }
  }

  #answer(call: ReadCall, options: streamsPb.ReadReq.Options): Promise<void> {
    if (!options.hasSubscription()) {
      return options.hasStream() ? readStream(this.database, call, options) : readAll(this.database, call, options);
    }
    return options.hasStream()
      ? subscribeToStream(this.database, call, options)
      : subscribeToAll(this.database, this.faults, behaviours[this.#release], call, options);
  }

  #cluster(): clusterGossip.ClusterInfo {
    const leader = new clusterGossip.MemberInfo()
      .setState(clusterGossip.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new clusterGossip.EndPoint().setAddress("127.0.0.1").setPort(this.#port));
    return new clusterGossip.ClusterInfo().setMembersList([leader]);
  }
}

function supportedMethods(version: string): featuresPb.SupportedMethods {
  const methods: Readonly<Record<string, readonly string[]>> = {
    append: [], batchappend: ["deadline_duration"], delete: [], read: ["position", "events"], tombstone: [],
  };
  return new featuresPb.SupportedMethods()
    .setEventStoreServerVersion(version)
    .setMethodsList(Object.entries(methods).map(([name, names]) => new featuresPb.SupportedMethod()
      .setServiceName("event_store.client.streams.streams")
      .setMethodName(name)
      .setFeaturesList([...names])));
}
