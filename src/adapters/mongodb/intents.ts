import { Binary } from "mongodb";
import type { Position } from "../../ports/event-store.ts";
import { ReadModelsUnavailable } from "../../ports/read-models.ts";
import type { Folded } from "../read-models/folded-changes.ts";
import { patience, type MongoConnection } from "./connection.ts";
import type { Pending } from "./generation.ts";
import { pack, unpack } from "./packed.ts";

/** What is no larger than this is kept in the state itself, which saves a write. */
const inlineBytes = 65_536;
/** A document of MongoDB's holds 16 MiB. */
const partBytes = 8 * 1024 * 1024;

interface Part {
  readonly _id: string;
  readonly body: Binary;
}

interface About {
  readonly generation: number;
  readonly epoch: number;
  readonly batch: number;
  readonly checkpoint: Position;
}

/** Folded batches, stored before they are applied. */
export class Intents {
  readonly #connection: MongoConnection;

  constructor(connection: MongoConnection) {
    this.#connection = connection;
  }

  /** Stores what is too large for the state. It counts once the returned value is in the state. */
  async store({ generation, epoch, batch, checkpoint }: About, folded: Folded): Promise<Pending> {
    const bytes = pack(folded);
    if (bytes.length <= inlineBytes) return { batch, checkpoint, body: new Binary(bytes), parts: 0, id: "" };
    const id = `${epochId(epoch)}${generation}/${batch}`;
    let parts = 0;
    for (let at = 0; at < bytes.length; at += partBytes) {
      const body = new Binary(bytes.subarray(at, at + partBytes));
      await this.#reach((signal) =>
        this.#parts().replaceOne({ _id: partId(id, parts) }, { body }, { upsert: true, signal }));
      parts += 1;
    }
    return { batch, checkpoint, body: null, parts, id };
  }

  /** A pending batch. Throws ReadModelsUnavailable, also where a part of it is gone. */
  async load({ body, parts, id }: Pending): Promise<Folded> {
    if (body) return unpack(body.buffer);
    const pieces: Uint8Array[] = [];
    for (let part = 0; part < parts; part += 1) {
      const found = await this.#reach((signal) => this.#parts().findOne({ _id: partId(id, part) }, { signal }));
      if (!found) throw new ReadModelsUnavailable(`part ${part} of batch ${id} is gone`);
      pieces.push(found.body.buffer);
    }
    return unpack(Buffer.concat(pieces));
  }

  /** Deletes what is kept outside the state. Nothing must be pending. */
  async forget({ parts, id }: Pending): Promise<void> {
    const ids = Array.from({ length: parts }, (_, part) => partId(id, part));
    await this.#reach((signal) => this.#parts().deleteMany({ _id: { $in: ids } }, { signal }));
  }

  /** Deletes what writers before an epoch left. Nothing of theirs must be pending. */
  async forgetBefore(epoch: number): Promise<void> {
    await this.#reach((signal) => this.#parts().deleteMany({ _id: { $lt: epochId(epoch) } }, { signal }));
  }

  #parts() {
    return this.#connection.db.collection<Part>("intents");
  }

  #reach<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#connection.reach(ReadModelsUnavailable, patience.writeMs, work);
  }
}

/** In the order of the epochs. */
function epochId(epoch: number): string {
  return `${String(epoch).padStart(16, "0")}/`;
}

function partId(id: string, part: number): string {
  return `${id}/${String(part).padStart(4, "0")}`;
}
