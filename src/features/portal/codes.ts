import { uuidForm } from "../../kernel/domain/uuid.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import { secretToken } from "../../kernel/tools/hashing.ts";

const form = /^(prt_|prs_)([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})[\w-]{43}$/;

/** The kind of a secret of a portal link: the code in its URL, or the token of its session. */
type Prefix = "prt_" | "prs_";

/** A new secret of a link: the id of the link and 256 random bits, so that no index of secrets is needed. */
export function newSecret(ids: Ids, prefix: Prefix, linkId: string): string {
  return secretToken(ids, prefix + linkId.replaceAll("-", ""));
}

/** The id of the link that a secret names; null where the text is no such secret. */
export function linkIdOf(prefix: Prefix, secret: string): string | null {
  const [, kind, ...groups] = form.exec(secret) ?? [];
  const id = groups.join("-");
  return kind === prefix && uuidForm.test(id) ? id : null;
}
