import { audit, auditSelected, type AuditFilter, type AuditItem, auditItem } from "../../../projections/audit/audit.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { tenantCounter } from "../../kernel/ports/read-models.ts";
import { listed, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";

/** Queries about the changes of a tenant, and their authors. */
export class AuditQueries {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "readModels" | "freshness">) {
    this.#parts = parts;
  }

  list({ tenantId }: Caller, filter: Omit<AuditFilter, "tenantId">, page: PageRequest): Promise<Page<AuditItem>> {
    const selected = auditSelected({ ...filter, tenantId });
    const isWhole = Object.values(filter).every((value) => value === undefined);
    const asked = { ...selected, counter: isWhole ? tenantCounter(audit, tenantId) : null, page };
    return listed(this.#parts, audit, asked, auditItem);
  }
}
