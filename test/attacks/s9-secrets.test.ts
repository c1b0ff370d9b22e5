import { secretsOn } from "./s9-secrets.ts";

describe("S9 secrets of every kind, on embedded engines", function () {
  this.timeout(300_000);
  secretsOn(null);
});
