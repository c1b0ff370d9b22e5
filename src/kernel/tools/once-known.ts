/**
 * Goes on with a value: at once where it is there, else when it comes. Awaiting a value that is there would cost turns
 * of the event loop.
 */
export function onceKnown<Value, Result>(
  value: Value | Promise<Value>, goOn: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
