import { openPlainStore } from "../../../support/embedded-store.ts";

/** Opens the store in the folder named, closes it, and prints how that went. */
try {
  const store = await openPlainStore(process.argv[2]!);
  await store.close();
  process.stdout.write("opened");
} catch (error) {
  process.stdout.write((error as Error).message);
}
