import { expect } from "chai";
import fc from "fast-check";
import { retryAfterMs } from "../../../../src/delivery/requests/outcome.ts";
import { dayMs } from "../../../../src/kernel/domain/time.ts";

const now = Date.parse("2026-01-02T03:04:05.000Z");
const asked = (value: string, statusCode = 503, at = now) =>
  retryAfterMs({ statusCode, headers: { "retry-after": value } }, at);

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (number: number, fill = "0") => String(number).padStart(2, fill);
/** The three forms of RFC 9110, 5.6.7. */
const forms = {
  "IMF-fixdate": (date: Date) => date.toUTCString(),
  "RFC 850": (date: Date) =>
    `${days[date.getUTCDay()]}, ${two(date.getUTCDate())}-${months[date.getUTCMonth()]}-`
    + `${two(date.getUTCFullYear() % 100)} ${date.toISOString().slice(11, 19)} GMT`,
  asctime: (date: Date) =>
    `${days[date.getUTCDay()]?.slice(0, 3)} ${months[date.getUTCMonth()]} ${two(date.getUTCDate(), " ")} `
    + `${date.toISOString().slice(11, 19)} ${date.getUTCFullYear()}`,
} as const;

const form = fc.constantFrom(...Object.keys(forms) as (keyof typeof forms)[]);
const seconds = fc.nat({ max: 86_400 });
/** A wait of some seconds, as a header may tell it. */
const told = fc.tuple(seconds, fc.option(form)).map(([wait, as]) =>
  ({ wait, value: as === null ? String(wait) : forms[as](new Date(now + wait * 1000)) }));
const inAnyCase = (text: string) =>
  fc.array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((char, at) => (upper[at] ? char.toUpperCase() : char.toLowerCase())).join(""));
const space = fc.constantFrom(" ", "  ", "\t", " \t ");
const spaced = (text: string) =>
  fc.tuple(space, space).map(([one, other]) => one + text.replaceAll(" ", other) + one);

describe("Retry-After", () => {
  it("is read as seconds and as a date of every form, in any case and with any spaces", () => {
    fc.assert(fc.property(told.chain(({ wait, value }) =>
      inAnyCase(value).chain(spaced).map((text) => ({ wait, text }))), ({ wait, text }) => {
      expect(asked(text, 429), text).to.equal(wait * 1000);
      expect(asked(text, 503), text).to.equal(wait * 1000);
    }));
  });

  it("counts the latest of several values, in any mix of forms", () => {
    const separator = fc.constantFrom(",", ", ", " , ", ",,", ",\t");
    fc.assert(fc.property(fc.array(told, { minLength: 1, maxLength: 4 }), separator, (all, between) => {
      const header = all.map(({ value }) => value).join(between);
      expect(asked(header), header).to.equal(Math.max(...all.map(({ wait }) => wait)) * 1000);
    }));
    expect(asked("60, 60")).to.equal(60_000);
    expect(asked("60, soon")).to.equal(60_000);
    expect(asked("soon, 60")).to.equal(60_000);
    expect(asked("Fri, 02 Jan 2026 03:05:05 GMT, Fri, 02 Jan 2026 03:04:35 GMT")).to.equal(60_000);
  });

  it("is a day at most, and 0 for a date in the past", () => {
    for (const long of ["86401", "9".repeat(11), "9".repeat(400), "Sun, 06 Nov 2095 08:49:37 GMT"]) {
      expect(asked(long), long).to.equal(dayMs);
    }
    const dates = ["Fri, 02 Jan 2026 03:04:04 GMT", "Sun Nov  6 08:49:37 1994", "Thu, 01 Jan 1970 00:00:00 GMT"];
    for (const past of ["0", "000", ...dates]) expect(asked(past), past).to.equal(0);
  });

  it("reads a year of two digits as the last one at most 50 years ahead", () => {
    const at = (value: string, from: string) => asked(value, 503, Date.parse(from));
    expect(at("Friday, 01-Jan-00 00:00:30 GMT", "2099-12-31T23:59:30Z")).to.equal(60_000);
    expect(at("Friday, 31-Dec-99 23:59:59 GMT", "2100-01-01T00:00:00Z")).to.equal(0);
    expect(at("Friday, 02-Jan-76 03:04:05 GMT", "2026-01-02T03:04:05Z")).to.equal(dayMs);
    expect(at("Friday, 02-Jan-76 03:04:06 GMT", "2026-01-02T03:04:05Z")).to.equal(0);
    expect(at("Sunday, 06-Nov-94 08:49:37 GMT", "2026-01-02T03:04:05Z")).to.equal(0);
  });

  it("accepts days that exist only, and a leap second", () => {
    expect(asked("Thu, 29 Feb 2024 00:00:00 GMT")).to.equal(0);
    expect(asked("Fri, 02 Jan 2026 03:04:60 GMT")).to.equal(55_000);
    expect(asked("Fri, 2 Jan 2026 03:05:05 GMT")).to.equal(60_000);
    const impossible = [
      "Fri, 99 Jan 2026 03:05:05 GMT", "Fri, 00 Jan 2026 03:05:05 GMT", "Mon, 30 Feb 2026 03:05:05 GMT",
      "Sun, 29 Feb 2026 03:05:05 GMT", "Fri, 02 Jan 2026 24:00:00 GMT", "Fri, 02 Jan 2026 03:60:05 GMT",
      "Fri, 02 Jan 2026 03:05:61 GMT", "Fri, 02 Foo 2026 03:05:05 GMT", "Friday, 31-Apr-26 03:05:05 GMT",
      "Fri Feb 30 03:05:05 2026",
    ];
    for (const value of impossible) expect(asked(value), value).to.be.null;
  });

  it("is ignored in other forms and on other answers", () => {
    const others = [
      "", " ", ",", "-5", "+60", "1.5", "1e3", "0x10", "60;foo", "60 s", "6 0", "\"60\"", "soon", "infinity", "NaN",
      "2026-01-02T03:05:05Z", "Fri, 02 Jan 2026 03:05:05", "Fri, 02 Jan 2026 03:05:05 CET", "02 Jan 2026 03:05:05 GMT",
      "Fri, 02 Jan 2026 03:05 GMT", "Fri,", "٣",
    ];
    for (const other of others) expect(asked(other), other).to.be.null;
    for (const status of [200, 301, 400, 500, 502]) expect(asked("120", status), `${status}`).to.be.null;
    expect(retryAfterMs({ statusCode: 503, headers: {} }, now)).to.be.null;
  });

  it("is read in a few milliseconds, also where it is long and malformed", () => {
    for (const part of ["mon", "mon ", "monday,", ",", " ", "1", "1,", "a", "Fri, 02 Jan 2026 "]) {
      const value = part.repeat(16_384 / part.length);
      const before = process.threadCpuUsage();
      asked(value);
      expect(process.threadCpuUsage(before).user / 1000, part).to.be.below(50);
    }
  });

  it("never throws, and asks for nothing or for 0 ms to a day", () => {
    const text = fc.array(fc.constantFrom(..."0159,;:- GMT\tFriJanmon+.".split(""), "Fri", "Jan", "GMT", "2026"))
      .map((parts) => parts.join(""));
    fc.assert(fc.property(fc.oneof(text, fc.string()), (value) => {
      const wait = asked(value);
      if (wait !== null) expect(wait).to.be.within(0, dayMs);
    }));
  });
});
