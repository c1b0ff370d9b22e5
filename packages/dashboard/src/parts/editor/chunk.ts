export { mountChanges, mountDiff, mountText, type MountedDiff } from "./editors.ts";
export { indented, isJson } from "./format.ts";
