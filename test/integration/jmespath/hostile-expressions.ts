/** Joins copies of a part. */
const repeated = (part: string, times: number, by: string) => Array<string>(times).fill(part).join(by);

/** The payload for hostile expressions: long texts and a long list, just within the limit of a body. */
export const hostilePayload = JSON.stringify({
  a: "x".repeat(60_000),
  c: "é".repeat(20_000),
  l: Array.from({ length: 9_000 }, (_, n) => n),
});

/** Expressions that a tenant may write to do harm, by their effect. None yields a deliverable payload. */
export const hostileExpressions: Readonly<Record<string, string>> = {
  "doubles its result at every step": `{x: ${repeated("[@,@]", 400, "|")}}`,
  "doubles its result, named": `{x: ${repeated("{a:@,b:@}", 200, "|")}}`,
  "writes what it doubled as a text": `{x: ${repeated("[@,@]", 60, "|")} | to_string(@)}`,
  "doubles a list": `{x: l | ${repeated("[@,@][]", 60, "|")}}`,
  "doubles a text": `{x: a | ${repeated("join('',[@,@,@,@,@,@,@,@])", 8, "|")}}`,
  "joins a text with itself a thousand times": `{x: join('', [${repeated("a", 1_000, ",")}])}`,
  "joins all with a long glue": "{x: join(a, l[*].to_string(@))}",
  "pads to half a gigabyte": "{x: upper(pad_left(a, `500000000`))}",
  "splits half a gigabyte": "{x: split(pad_left(a, `500000000`, 'x'), '')}",
  "replaces every character by a long text": "{x: replace(a, 'x', a)}",
  "sorts by a costly key": "{x: sort_by(l, &to_string([@, $.l]))}",
  "sorts a list made long": "{x: l | [@,@,@,@,@,@,@,@,@,@][] | [@,@,@,@,@,@,@,@][] | sort(@)}",
  "nests projections": "{x: l[*].[$.l[*].[$.l[*].[$.l[*]]]]}",
  "nests filters": "{x: l[?length($.l[?length($.l[?length($.l) > `1`]) > `1`]) > `1`]}",
  "nests maps": "{x: map(&map(&map(&@, $.l), $.l), l)}",
  zips: `{x: zip(${repeated("l", 1_000, ",")})}`,
  "compares what it doubled": `{x: (${repeated("[@,@]", 40, "|")}) == (${repeated("[@,@]", 40, "|")}), y: a | [@,@]}`,
  "nests parentheses": `${"(".repeat(2_000)}a${")".repeat(2_000)}`,
  "nests lists": `{x: ${"[".repeat(2_000)}a${"]".repeat(2_000)}}`,
  "nests negations": `{x: ${"!".repeat(4_000)}a}`,
  "nests objects": `${"{a:".repeat(1_000)}b${"}".repeat(1_000)}`,
  "searches a long text for a long text": "{x: find_last(pad_left(a, `1000000`, 'x'), pad_left('b', `500000`, 'x'))}",
  "searches a text for a text that is nearly there": "{x: contains(a, join('', ['y', a]))}",
};
