import type { Aggregates } from "./log/aggregates.ts";
import type { Clock } from "./ports/clock.ts";
import type { EventStore } from "./ports/event-store.ts";
import type { ExpiringState } from "./ports/expiring-state.ts";
import type { Ids } from "./ports/ids.ts";
import type { Mappings } from "./ports/mapping.ts";
import type { OutboundClient } from "./ports/outbound.ts";
import type { Passwords } from "./ports/passwords.ts";
import type { ReadModels } from "./ports/read-models.ts";
import type { Sealing } from "./ports/sealing.ts";
import type { Logger, Metrics } from "./ports/telemetry.ts";
import type { Tokens } from "./ports/tokens.ts";
import type { Freshness } from "./read-models/freshness.ts";
import type { Vault } from "./sealing/vault.ts";

/** The engines behind the ports, and the kernel's services on them. Each class of a feature picks its own. */
export interface KernelParts {
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly state: ExpiringState;
  readonly sealing: Sealing;
  readonly passwords: Passwords;
  readonly tokens: Tokens;
  readonly mappings: Mappings;
  readonly outbound: Pick<OutboundClient, "refusalOf">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly aggregates: Aggregates;
  readonly freshness: Freshness;
  readonly vault: Vault;
}
