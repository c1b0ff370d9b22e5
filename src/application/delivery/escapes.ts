/** A text as it reads once escapes in it are read. */
export interface View {
  readonly text: string;
  /** Where in the text as it was written each character begins; at last, where the last one ends. */
  readonly origins: Uint32Array;
  /** How many escapes were read to make it of the view that it is upon. */
  readonly escapes: number;
}

/** How an encoding writes what it may not write as it is. */
interface Encoding {
  /** What every escape begins with. */
  readonly sign: string;
  /** An escape; or, with what there is of it as the one group, an escape that the end of the text cuts off. */
  readonly escapes: RegExp;
  readonly read: (escape: string) => string;
}

const controls: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Each escapes what it must and more as it likes, but no letter and no digit of ASCII. */
const encodings: readonly Encoding[] = [
  // JSON: PHP also escapes slashes, Go and Gson what HTML would take for markup.
  {
    sign: "\\",
    escapes: /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|(u[0-9a-f]{0,3}$|x[0-9a-f]?$|$)|[^])/gi,
    read: (escape) => {
      const digits = escape.slice(2);
      if (digits) return String.fromCharCode(Number.parseInt(digits, 16));
      return controls[escape.charAt(1)] ?? escape.charAt(1);
    },
  },
  // URLs and forms: the bytes of one character.
  {
    sign: "%",
    escapes: /%(?:[0-7][0-9a-f]|[cd][0-9a-f]%[89ab][0-9a-f]|e[0-9a-f](?:%[89ab][0-9a-f]){2}|f[0-7](?:%[89ab][0-9a-f]){3}|([0-9a-f]?$|[c-f][0-9a-f](?:%[89ab][0-9a-f]){0,2}(?:%[89ab]?)?$))/gi,
    read: (escape) => {
      if (escape.length === 3) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
      return Buffer.from(escape.replaceAll("%", ""), "hex").toString();
    },
  },
  // HTML and XML.
  {
    sign: "&",
    escapes: /&(?:#\d{1,7};|#x[0-9a-f]{1,6};|(?:amp|lt|gt|quot|apos);|(#?[0-9a-z]{0,7}$))/gi,
    read: (escape) => {
      const name = escape.slice(1, -1).toLowerCase();
      if (!name.startsWith("#")) return named[name] ?? escape;
      const code = Number(name.startsWith("#x") ? `0${name.slice(1)}` : name.slice(1));
      return code <= 0x10_ff_ff ? String.fromCodePoint(code) : escape;
    },
  },
];

/** A form within JSON, JSON within JSON, JSON on a page. */
const layers = 2;

/**
 * A text as it is, and as it reads by each encoding, and by each upon each, but for those that find no escape in it.
 * Made as they are asked for: each takes time.
 */
export function* viewsOf(text: string): Generator<View> {
  const origins = new Uint32Array(text.length + 1);
  for (let index = 1; index <= text.length; index += 1) origins[index] = index;
  let latest: readonly View[] = [{ text, origins, escapes: 0 }];
  yield* latest;
  for (let layer = 0; layer < layers; layer += 1) {
    const upon: View[] = [];
    for (const view of latest) {
      for (const encoding of encodings.filter(({ sign }) => view.text.includes(sign))) {
        const read = unescaped(view, encoding);
        if (read.escapes === 0) continue;
        yield read;
        upon.push(read);
      }
    }
    latest = upon;
  }
}

function unescaped(view: View, { escapes, read }: Encoding): View {
  const origins = new Uint32Array(view.text.length + 1);
  let count = 0;
  let from = 0;
  let to = 0;
  const keepUpTo = (end: number) => {
    for (; from < end; from += 1, to += 1) origins[to] = view.origins[from] ?? 0;
  };
  const text = view.text.replace(escapes, (escape: string, cutOff: string | undefined, at: number) => {
    const meaning = cutOff === undefined ? read(escape) : "";
    count += 1;
    keepUpTo(at);
    for (const end = to + meaning.length; to < end; to += 1) origins[to] = view.origins[at] ?? 0;
    from += escape.length;
    return meaning;
  });
  keepUpTo(view.text.length + 1);
  return { text, origins: origins.subarray(0, to), escapes: count };
}
