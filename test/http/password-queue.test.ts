import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { createTenant, createUser, freshEmail, password, unique } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";
import { eventually } from "../support/relay.ts";

/** Holds back messages to threads; the result releases them. */
function holdThreads(): () => void {
  const original = Object.getOwnPropertyDescriptor(Worker.prototype, "postMessage") ?? expect.fail();
  const held: (() => void)[] = [];
  Worker.prototype.postMessage = function hold(this: Worker, ...sent) {
    held.push(() => this.postMessage(...sent));
  };
  return () => {
    Object.defineProperty(Worker.prototype, "postMessage", original);
    for (const send of held.splice(0)) send();
  };
}

describe("while one caller changes passwords as fast as it can", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let letGo = () => {};
  beforeEach(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
  });
  afterEach(async () => {
    letGo();
    expect(api.errors).to.deep.equal([]);
    await api.close();
    await engines.close();
  });

  /** Counts the password tasks from now on, each of them queued or refused. */
  const countedTasks = () => {
    const { passwords } = api.world;
    const [matches, hash] = [passwords.matches.bind(passwords), passwords.hash.bind(passwords)];
    let tasks = 0;
    const counted = <Asked extends unknown[], Answer>(ask: (...asked: Asked) => Answer) => (...asked: Asked) => {
      tasks += 1;
      return ask(...asked);
    };
    Object.assign(passwords, { matches: counted(matches), hash: counted(hash) });
    return (count: number) => eventually(async () => tasks, (made) => made === count);
  };

  it("a quarter of the places are its own, and logins, registrations and other tenants' users are served", async () => {
    const [one, other] = [await createTenant(api.url), await createTenant(api.url)];
    const viewer = await createUser(one.owner.client, "viewer");
    const invite = (await other.owner.client.post("/api/v1/invites", { email: freshEmail(), role: 0 })).json;
    const reached = countedTasks();
    letGo = holdThreads();

    const flood = Array.from({ length: 70 }, () => viewer.client.patch(`/api/v1/users/${viewer.id}`, { password }));
    await reached(16);
    const post = (path: string, json: object) => http("POST", `${api.url}/api/v1/${path}`, { json });
    const wanted = [
      post("auth/login", { email: other.owner.email, password }),
      post("auth/login", { email: freshEmail(), password }),
      post("tenants", { name: unique("T"), ownerEmail: freshEmail(), ownerPassword: password }),
      post(`invites/${String(invite["inviteToken"])}/register`, { password }),
      other.owner.client.post("/api/v1/users", { email: freshEmail(), password }),
    ];
    await reached(21);
    letGo();

    const statuses = async (answers: typeof flood) => (await Promise.all(answers)).map(({ status }) => status);
    const [served, flooded] = [await statuses(wanted), await statuses(flood)];
    expect(served).to.deep.equal([200, 401, 201, 201, 201]);
    expect(flooded).to.deep.equal(Array(70).fill(200));
  });
});
