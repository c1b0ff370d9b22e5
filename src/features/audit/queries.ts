import { audit, auditSelected, type AuditFilter, type AuditItem, auditItem } from "../../../projections/audit/audit.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { tenantCounter } from "../../kernel/ports/read-models.ts";
import { listed, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import { told, type ToldFact } from "../history.ts";
import { subscriptionsId, type Subscription } from "../subscriptions/facts.ts";

/** Queries about the changes of a tenant, and their authors. */
export class AuditQueries {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "store" | "readModels" | "freshness">) {
    this.#parts = parts;
  }

  async list(
    caller: Caller, filter: Omit<AuditFilter, "tenantId">, page: PageRequest,
  ): Promise<Page<AuditItem & ToldFact>> {
    const { tenantId } = caller;
    const selected = auditSelected({ ...filter, tenantId });
    const isWhole = Object.values(filter).every((value) => value === undefined);
    const asked = { ...selected, counter: isWhole ? tenantCounter(audit, tenantId) : null, page };
    const found = await listed(this.#parts, audit, asked, auditItem);
    const streamOf = (item: AuditItem) => streamOfSubject(item, tenantId);
    return { ...found, items: await told(this.#parts, caller, found.items, streamOf) };
  }
}

/** The stream that has the facts about a subject. */
function streamOfSubject({ subject: { type, id }, data }: AuditItem, tenantId: string): string {
  switch (type) {
    case "user": return streams.tenant(tenantId);
    case "purge": return streams.purges(tenantId);
    case "subscription": {
      const { senderId, ownerId } = data as Pick<Subscription, "senderId" | "ownerId">;
      return streams.subscriptions(subscriptionsId(senderId, ownerId));
    }
    case "notificationSubscription": return streams.notifications(tenantId);
    case "cancellation": return streams.cancellations(tenantId);
    default: return streams[type](id);
  }
}
