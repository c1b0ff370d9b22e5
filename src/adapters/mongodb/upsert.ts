import { MongoServerError } from "mongodb";

/** MongoDB's code for a document that is there already. */
export const duplicateKey = 11_000;

/** What one makes is there at the next try; more are needed only where it expires in between. */
const mostTries = 10;

/** Changes or makes a document, again where somebody else has made it at the same moment. */
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
