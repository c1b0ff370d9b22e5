/** Goes on with a value at once where it is there: awaiting it would cost turns of the event loop. */
export function onceKnown<Value, Result>(
  value: Value | Promise<Value>, goOn: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
