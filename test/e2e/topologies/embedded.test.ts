import { embedded } from "../../support/topologies.ts";
import { actsSuite } from "./acts.ts";
import { cloudSuite } from "./cloud.ts";
import { deliverySuite } from "./delivery.ts";
import { limitsSuite } from "./limits.ts";
import { sendersSuite } from "./senders.ts";

for (const suite of [actsSuite, cloudSuite, deliverySuite, limitsSuite, sendersSuite]) suite(embedded);
