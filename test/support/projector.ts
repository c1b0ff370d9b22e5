import type { ReadModels, ReadModelWriter } from "../../src/kernel/ports/read-models.ts";
import type { ProjectionParts } from "../../src/projector/projection-run.ts";
import { ProjectionRunner } from "../../src/projector/projection-runner.ts";
import { quiet, uncounted } from "./telemetry.ts";

/**
 * A runner that keeps `models` up with the log. By default it is silent, takes entries as they are and has no batch
 * delay; the log leaves no orphaned entries.
 */
export function projectorOf(
  { models, ...parts }:
    & { readonly models: Pick<ReadModels, "find" | "get"> & ReadModelWriter }
    & Pick<ProjectionParts, "log" | "clock">
    & Partial<ProjectionParts>,
): ProjectionRunner {
  return new ProjectionRunner({
    readModels: models, logger: quiet, metrics: uncounted, prepare: async (entries) => entries,
    batchDelayMs: 0, leavesOrphans: false, ...parts,
  });
}
