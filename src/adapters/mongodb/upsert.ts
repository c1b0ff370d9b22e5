import { MongoServerError } from "mongodb";

/** MongoDB's code for a document that is there already. */
export const duplicateKey = 11_000;

/** Changes or makes a document, again where somebody else has made it at the same moment. */
export async function unlessMade<Result>(upsert: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await upsert();
    } catch (error) {
      if (!(error instanceof MongoServerError && error.code === duplicateKey)) throw error;
    }
  }
}
