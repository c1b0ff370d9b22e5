import { EmbeddedQueue } from "../../packages/embedded-engine/src/index.ts";
import { workQueueContract } from "./work-queue.ts";

const impossible = () => Promise.reject(new Error("the embedded queue is this process's own"));

workQueueContract(
  "Memory",
  async () => ({
    queue: new EmbeddedQueue(), another: impossible, breakDown: impossible, heal: impossible,
    close: async () => undefined,
  }),
  { shared: false, outages: false },
);
