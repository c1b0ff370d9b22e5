/** What stands in the way of using the data folder, told by the variable that an operator can change. */
export function dataFolderProblem(error: unknown): Error {
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`RELAY_DATA_DIR: ${why}`, { cause: error });
}
