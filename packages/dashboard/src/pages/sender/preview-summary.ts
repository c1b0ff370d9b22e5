import type { Schemas } from "@webhook-relay/client";

/** The API lists this many events of a kind at most. */
const mostListed = 20;

/** Such as `97 same, 2 differ, 1 fails`. Of more than the API lists of both kinds, only the sum is known. */
export function summaryOf({ tried, same, differ, failed }: Schemas["MappingPreview"]): string {
  if (tried === 0) return "No event came through this sender yet.";
  const rest = tried - same;
  const [differing, failing] = differ.length < mostListed ? [differ.length, rest - differ.length]
    : failed.length < mostListed ? [rest - failed.length, failed.length] : [undefined, undefined];
  const parts = differing === undefined ? [`${rest} differ or fail`] : [
    differing === 0 ? [] : `${differing} ${differing === 1 ? "differs" : "differ"}`,
    failing === 0 ? [] : `${failing} ${failing === 1 ? "fails" : "fail"}`,
  ].flat();
  return [`${same} same`, ...parts].join(", ");
}
