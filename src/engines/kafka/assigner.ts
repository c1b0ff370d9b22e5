import { AssignerProtocol, type Cluster, type GroupMember, type PartitionAssigner } from "kafkajs";

const { MemberAssignment, MemberMetadata } = AssignerProtocol;
const version = 1;

export interface Joining {
  /** Its partitions so far. Called before each join is sent. */
  leaving(): readonly number[];
  /** Called once, with a function that counts the topic's known partitions; a join may reveal more. */
  counting(count: () => number): void;
}

/** Shares the topic out evenly. Members keep as many partitions as they may, so that few destinations move. */
export function keepingAssigner(topic: string, joining: Joining): PartitionAssigner {
  return ({ cluster }) => {
    joining.counting(() => partitionsOf(cluster, topic).length);
    return {
      name: "relay-keeping",
      version,
      protocol: ({ topics }) => {
        const userData = Buffer.from(JSON.stringify(joining.leaving()));
        return { name: "relay-keeping", metadata: MemberMetadata.encode({ version, topics, userData }) };
      },
      assign: async ({ members }) => {
        const partitions = partitionsOf(cluster, topic);
        return [...shareOut(partitions, members.map(claimOf))].map(([memberId, share]) => ({
          memberId,
          memberAssignment: MemberAssignment.encode({
            version, assignment: { [topic]: [...share] }, userData: Buffer.alloc(0),
          }),
        }));
      },
    };
  };
}

/** A member and its partitions so far. */
export interface Claim {
  readonly memberId: string;
  readonly had: readonly number[];
}

/** Sizes differ by one at most, and no partition moves without need. */
export function shareOut(partitions: readonly number[], claims: readonly Claim[]): Map<string, readonly number[]> {
  const free = new Set(partitions);
  const smallest = Math.floor(partitions.length / claims.length);
  const larger = partitions.length % claims.length;
  // Members that had most keep most; the id makes the order deterministic.
  const order = claims.toSorted((a, b) => b.had.length - a.had.length || (a.memberId < b.memberId ? -1 : 1));
  const shares = order.map(({ memberId, had }, index) => {
    const size = smallest + (index < larger ? 1 : 0);
    const share = [...new Set(had)].filter((partition) => free.has(partition)).slice(0, size);
    for (const partition of share) free.delete(partition);
    return { memberId, size, share };
  });
  const rest = [...free];
  for (const { size, share } of shares) share.push(...rest.splice(0, size - share.length));
  return new Map(shares.map(({ memberId, share }) => [memberId, share]));
}

function partitionsOf(cluster: Cluster, topic: string): number[] {
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId).sort((a, b) => a - b);
}

function claimOf({ memberId, memberMetadata }: GroupMember): Claim {
  try {
    const had: unknown = JSON.parse(String(MemberMetadata.decode(memberMetadata)?.userData));
    return { memberId, had: Array.isArray(had) ? had.filter((partition) => Number.isInteger(partition)) : [] };
  } catch {
    return { memberId, had: [] };
  }
}
