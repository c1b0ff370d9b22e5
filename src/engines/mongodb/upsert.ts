import { MongoServerError } from "mongodb";

export const duplicateKey = 11_000;

/** The second try finds the other's document, unless that expires in between. */
const mostTries = 10;

/** Repeats an upsert that lost a race against another insert. */
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
