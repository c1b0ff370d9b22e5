import { MongoServerError } from "mongodb";

/** MongoDB's code for a document that is there already. */
export const duplicateKey = 11_000;

/** The second try finds the other's document; more are needed only where it expires in between. */
const mostTries = 10;

/** Runs an upsert, and runs it again where another one has inserted the document at the same moment. */
export async function unlessMade<Result>(upsert: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await upsert();
    } catch (error) {
      const isMade = error instanceof MongoServerError && error.code === duplicateKey;
      if (!isMade || tries === mostTries) throw error;
    }
  }
}
