import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { facts, type Schemas } from "../../../packages/client/src/index.ts";
import { hexText, isBinary } from "../../../packages/dashboard/src/parts/hex.ts";
import { attemptsOf, outcomeText } from "../../../packages/dashboard/src/story/attempts.ts";
import { axisOf, openTimes, sharedClockOf } from "../../../packages/dashboard/src/story/axis.ts";
import { actorText, causeWords, type Cause } from "../../../packages/dashboard/src/story/causes.ts";
import { chapterWords, type Chapter, type Telling } from "../../../packages/dashboard/src/story/chapters.ts";
import { curlCommand, quoted } from "../../../packages/dashboard/src/story/curl.ts";
import { receiverWords } from "../../../packages/dashboard/src/story/failures.ts";
import {
  authorsOf, entriesOf, indexAt, indexAtTime, laterThan,
} from "../../../packages/dashboard/src/story/moments.ts";
import { sentence, type Told } from "../../../packages/dashboard/src/story/sentence.ts";
import { suspectIn } from "../../../packages/dashboard/src/story/suspect.ts";
import { plainText, type Words } from "../../../packages/dashboard/src/story/words.ts";

const id = "01a21403-596c-8427-b45d-b3dcde7cf788";
const other = "01a21403-5971-8427-b45d-b3dcde7cf788";

function schema(name: string): Record<string, unknown> {
  const path = join(import.meta.dirname, "../../../schemas/responses", `${name}.json`);
  return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
}
const codes = schema("cause-code")["enum"] as Schemas["CauseCode"][];
const statuses = schema("event-status")["enum"] as Schemas["EventStatus"][];
const chapterSchema = schema("story-chapter") as {
  properties: {
    kind: { enum: Chapter["kind"][] };
    attempt: { properties: { outcome: { enum: NonNullable<Chapter["attempt"]>["outcome"][] } } };
  };
};
const kinds = chapterSchema.properties.kind.enum;
const outcomes = chapterSchema.properties.attempt.properties.outcome.enum;

const time = (second: number) => `2026-11-25T18:41:${String(second).padStart(2, "0")}.000Z`;
const user: Schemas["Actor"] = { type: "user", id: "01a2aaaa-0001-8427-b45d-b3dcde7cf788", role: "Developer" };

function entry(position: number, type: string, subject: Schemas["StorySubject"]["type"] = "event") {
  return { position: String(position), type, subject: { type: subject, id }, time: time(position), actor: user };
}

function cause(code: Schemas["CauseCode"], values: Cause["values"] = {}): Cause {
  const { actor: _, ...stated } = entry(3, "Anything", "circuit");
  return { code, entry: code === "not-recorded" ? null : stated, values };
}

function event(fields: Partial<Schemas["Event"]> = {}): Schemas["Event"] {
  return {
    id, tenantId: id, destinationUrlId: id, payload: "{}", status: "Pending", idempotencyKey: null,
    currentRetryCount: 0, nextAttemptAt: null, acceptedAt: time(0), deliveredAt: null, senderId: null, messageId: null,
    eventType: null, ownerId: null, tags: null, test: false, sourceEventId: null, ...fields,
  };
}

function told(fields: Partial<Told> = {}): Told {
  const authors = authorsOf(entriesOf(fields.chapters ?? []));
  return { event: event(), attempts: [], authors, names: new Map(), chapters: [], waiting: null, ...fields };
}

function chapter(kind: Chapter["kind"], fields: Partial<Chapter> = {}): Chapter {
  return { kind, from: time(1), to: time(2), entries: [entry(1, "Anything")], because: [], ...fields };
}

const text = (words: Words) => plainText(words);
const telling: Telling = told();

describe("the words of stories", () => {
  for (const code of codes) {
    it(`say the cause ${code}, with a link to its entry`, () => {
      const words = causeWords(cause(code));
      expect(text(words)).to.match(/^[a-z][a-z0-9 ',-]+$/i);
      const links = words.filter((piece) => typeof piece === "object" && "entry" in piece);
      expect(links).to.have.length(code === "not-recorded" ? 0 : 1);
    });

    it(`say that an event waits by ${code}, in both tenses`, () => {
      const waiting = { reason: code, since: time(1), until: time(9), ahead: 2, because: [cause(code)] };
      expect(text(sentence(told({ waiting }), "now")))
        .to.match(/^Waits for its first attempt: .+\. 2 events .+ are due/);
      expect(text(sentence(told({ waiting }), "then"))).to.match(/^Was waiting for its first attempt: .+ were due/);
    });
  }

  it("know no two causes by the same words", () => {
    expect(new Set(codes.map((code) => text(causeWords(cause(code))))).size).to.equal(codes.length);
  });

  it("name a cause of a later relay by its code", () => {
    const later = { ...cause("gone"), code: "eclipse" } as unknown as Cause;
    expect(text(causeWords(later))).to.include("eclipse");
  });

  for (const kind of kinds) {
    it(`give the chapter ${kind} a title, and say each of its causes`, () => {
      for (const code of codes) {
        const { title, text: words } = chapterWords(chapter(kind, { because: [cause(code)] }), telling);
        expect(title).to.match(/^[A-Z]/);
        const said = text(words).toLowerCase();
        if (kind !== "accepted") expect(said).to.include(text(causeWords(cause(code))).toLowerCase());
      }
    });
  }

  for (const kind of ["replayed", "exhausted", "cancelled"] as const) {
    it(`say of the chapter ${kind} that its cause is missing where it is`, () => {
      expect(text(chapterWords(chapter(kind), telling).text)).to.equal("The log names no cause");
    });
  }

  for (const status of statuses) {
    it(`say the status ${status} now and then, also without other knowledge`, () => {
      const said = told({ event: event({ status }) });
      const [now, then] = (["now", "then"] as const).map((tense) => text(sentence(said, tense)));
      expect(now).to.match(/^[A-Z0-9].+\.$/);
      expect(then).to.match(/^[A-Z0-9].+\.$/);
      expect(then).to.not.equal(now);
      if (!["Succeeded", "Processing", "Failed"].includes(status)) expect(now).to.include("the log names no cause");
    });
  }

  it("say the planned time of a wait, and each addition with its reason", () => {
    const wait = chapter("wait", {
      from: time(0), to: time(50), because: [
        cause("retry-schedule", { retryCount: 2, nextAttemptAt: time(2) }), cause("circuit-open", { failures: 4 }),
      ],
    });
    expect(text(chapterWords(wait, telling).text)).to.equal(`2 s, due ${time(2)}: planned by the retry schedule, after `
      + "2 failed attempts; sent 48 s later: held by the open circuit, after 4 failures in a row");
    const because = [cause("retry-schedule", { retryCount: 2, nextAttemptAt: time(2) })];
    expect(text(chapterWords({ ...wait, because }, telling).text)).to.match(/sent 48 s later: the log names no cause$/);
    expect(text(chapterWords({ ...wait, because, to: time(2) }, telling).text)).to.not.include("no cause");
    expect(text(chapterWords({ ...wait, because: [] }, telling).text)).to.equal("50 s: the log names no cause");
  });

  it("say how each attempt came out", () => {
    const failed = { number: 1, outcome: "failed", durationMs: 12, statusCode: null, reason: "connection" } as const;
    expect(outcomeText({ ...failed, statusCode: 500, reason: "status", error: "status 500" })).to.equal("500 in 12 ms");
    expect(outcomeText({ ...failed, error: "no connection" })).to.equal("no connection, after 12 ms");
    expect(outcomeText({ ...failed, statusCode: 200, reason: "timeout", error: "no complete answer in time" }))
      .to.equal("no complete answer in time, after 12 ms");
    for (const outcome of outcomes) expect(outcomeText({ ...failed, outcome, error: null })).to.match(/^\S/);
  });

  it("tell of an attempt once, by the newest word about it", () => {
    const attempt = { number: 1, outcome: "in progress", durationMs: null, statusCode: null, reason: null } as const;
    const begun = chapter("attempt", { from: time(1), to: null, attempt: { ...attempt, error: null } });
    const lost = chapter("attempt", {
      from: time(1), to: time(5), entries: [entry(1, "DeliveryAttemptStarted"), entry(5, "DeliveryFailed")],
      attempt: { ...attempt, outcome: "unknown", reason: "outcome unknown", error: "the worker was lost" },
    });
    const late = chapter("attempt", {
      from: time(9), to: time(9), entries: [entry(9, "DeliverySucceeded")],
      attempt: { ...attempt, outcome: "succeeded", durationMs: 4, statusCode: 200, error: null },
    });
    expect(attemptsOf([begun]).map(outcomeText)).to.deep.equal(["in flight"]);
    expect(attemptsOf([lost]).map(outcomeText)[0]).to.match(/^outcome unknown: the worker was lost/);
    const [told, ...others] = attemptsOf([chapter("accepted"), lost, late]);
    expect(others).to.deep.equal([]);
    expect(told && outcomeText(told)).to.equal("200 in 4 ms");
    expect(told?.entries.map(({ position }) => position)).to.deep.equal(["1", "5", "9"]);
  });

  it("call a resent event so", () => {
    const asked = (mode: "replay" | "resend") => chapter("replayed", { because: [cause("requested", { mode })] });
    expect(chapterWords(asked("replay"), telling).title).to.equal("Replayed");
    expect(chapterWords(asked("resend"), telling).title).to.equal("Resent");
  });

  it("say the end in the tense of the moment, with its cause", () => {
    const exhausted = chapter("exhausted", { because: [cause("max-attempts", { retryCount: 4 })] });
    const given = told({ event: event({ status: "CriticalFailure" }), chapters: [exhausted] });
    expect(text(sentence(given, "now")))
      .to.equal("Not delivered: 4 attempts failed, the maximum.");
    expect(text(sentence(given, "then"))).to.match(/^Had not been delivered: /);
    const test = told({ ...given, event: event({ status: "CriticalFailure", test: true }) });
    expect(text(sentence(test, "now"))).to.match(/a test event is not retried\.$/);
    const cancelled = chapter("cancelled", { because: [{ ...cause("requested"), entry: entry(1, "EventCancelled") }] });
    expect(text(sentence(told({ event: event({ status: "Cancelled" }), chapters: [cancelled] }), "now")))
      .to.equal("Cancelled before any attempt, 1 s after acceptance: requested by user 01a2aaaa-0001 (Developer).");
  });

  it("say what the receiver answered how often, and its words", () => {
    const attempt = (number: number, statusCode: number | null, error = "status") => chapter("attempt", {
      attempt: {
        number, outcome: "failed", durationMs: 3, statusCode, error,
        reason: statusCode === null ? "connection" : "status",
      },
    });
    const exhausted = chapter("exhausted", { because: [cause("max-attempts", { retryCount: 2 })] });
    const ended = (chapters: readonly Chapter[], said?: string) => {
      const attempts = attemptsOf(chapters);
      const failed = event({ status: "CriticalFailure", currentRetryCount: attempts.length });
      return text(sentence(told({ event: failed, attempts, chapters: [...chapters, exhausted], said }), "now"));
    };
    expect(ended([attempt(1, 404), attempt(2, 404)], "It moved"))
      .to.equal("Not delivered: the receiver answered 404 twice (“It moved”), the maximum.");
    expect(ended([attempt(1, 404), attempt(2, 500)]))
      .to.equal("Not delivered: 2 attempts failed, the last was answered 500, the maximum.");
    expect(ended([attempt(1, null, "no connection"), attempt(2, null, "no connection")]))
      .to.equal("Not delivered: 2 attempts failed (no connection), the maximum.");
    const [first] = attemptsOf([attempt(1, 503)]);
    const retrying = told({ event: event({ status: "WaitingRetry", currentRetryCount: 1 }), attempts: [first!] });
    expect(text(sentence({ ...retrying, said: "later" }, "now"))).to.match(/^The receiver answered 503 \(“later”\)\. W/);
    expect(text(sentence(retrying, "then"))).to.match(/^The receiver had answered 503\. Was waiting/);
  });

  it("say until when the circuit that holds an event is open", () => {
    const because = [cause("circuit-open", { failures: 3, openUntil: time(9) })];
    const held = told({ waiting: { reason: "circuit-open", since: time(1), until: time(9), ahead: null, because } });
    expect(text(sentence(held, "now")))
      .to.equal(`Waits for its first attempt: circuit open until ${time(9)}, after 3 failures in a row.`);
  });

  it("say of a probe how long the circuit had held its event", () => {
    const chapters = [
      chapter("wait", { from: time(0), to: time(40), because: [cause("circuit-open", { failures: 4 })] }),
      chapter("attempt", {
        to: null, entries: [entry(5, "DeliveryAttemptStarted")], because: [cause("probe")],
        attempt: {
          number: 3, outcome: "in progress", durationMs: null, statusCode: null, reason: null, error: null,
        },
      }),
    ];
    const probe = told({ event: event({ status: "Processing" }), attempts: attemptsOf(chapters), chapters });
    expect(text(sentence(probe, "then")))
      .to.equal("Attempt 3 was in flight, as the probe of the circuit that had held it 40 s.");
  });

  it("name every kind of author", () => {
    const { type } = (schema("actor") as { properties: { type: { enum: Schemas["Actor"]["type"][] } } }).properties;
    expect(new Set(type.enum.map((kind) => actorText({ type: kind, id: other }))).size).to.equal(type.enum.length);
  });

  it("call an author by name where the reader may see it", () => {
    const names = new Map([[user.id!, "ada@example.com"]]);
    const replayed = chapter("replayed", { because: [{ ...cause("requested"), entry: entry(1, "EventReplayed") }] });
    expect(text(chapterWords(replayed, told({ names, chapters: [replayed] })).text))
      .to.equal("Requested by user “ada@example.com” (Developer)");
    const posted = { ...entry(1, "EventAccepted"), actor: { type: "apiKey" as const, id } };
    const accepted = chapter("accepted", { entries: [posted] });
    expect(text(chapterWords(accepted, told({ names: new Map([[id, "shop"]]) })).text)).to.equal("By API key “shop”");
  });
});

describe("the moments of a story", () => {
  const wait = chapter("wait", { from: time(2), to: null, entries: [entry(2, "RetryScheduled")] });
  const chapters = [
    chapter("accepted", { entries: [entry(1, "EventAccepted")] }),
    { ...wait, to: time(6), entries: [entry(2, "RetryScheduled"), entry(4, "CircuitOpened", "circuit")] },
    chapter("setting", { entries: [entry(4, "CircuitOpened", "circuit")] }),
    chapter("attempt", { entries: [entry(6, "DeliveryAttemptStarted")] }),
  ];

  it("are its entries, each once, in the order of the log", () => {
    const entries = entriesOf(chapters);
    expect(entries.map(({ position }) => position)).to.deep.equal(["1", "2", "4", "6"]);
    expect(["0", "3", "6", undefined].map((position) => indexAt(entries, position))).to.deep.equal([0, 1, 3, 3]);
  });

  it("leave later chapters for later, and keep a wait that went on in its place", () => {
    const then = [chapters[0]!, wait];
    expect(laterThan(then, chapters).map(({ kind }) => kind)).to.deep.equal(["setting", "attempt"]);
  });
});

describe("a typed moment of a story", () => {
  it("is that of the last entry before it", () => {
    const entries = [entry(1, "EventAccepted"), entry(5, "DeliveryFailed")];
    expect([time(0), time(1), time(4), time(5), time(9)].map((at) => indexAtTime(entries, at)))
      .to.deep.equal([-1, 0, 0, 1, 1]);
  });
});

describe("the axis of a story", () => {
  const at = (ms: number) => new Date(Date.parse(time(0)) + ms).toISOString();
  const chapters = [
    chapter("accepted", { from: at(0), to: at(0) }), chapter("attempt", { from: at(0), to: at(100) }),
    chapter("wait", { from: at(100), to: at(2_000) }), chapter("attempt", { from: at(2_000), to: at(2_100) }),
    chapter("wait", { from: at(2_100), to: null }),
  ];

  it("keeps the order of the chapters, and gives each of them room", () => {
    const { placed } = axisOf(chapters, at(3_000));
    const places = placed.flatMap(({ from, to }) => [from, to]);
    expect(places).to.deep.equal([...places].sort((one, other) => one - other));
    expect([places[0], places.at(-1)]).to.deep.equal([0, 1]);
    for (const { from, to } of placed) expect(to - from).to.be.above(0.02);
  });

  it("folds a gap that is much longer than the rest, and says its length", () => {
    expect(axisOf(chapters, at(3_000)).folds).to.deep.equal([]);
    const { folds, placeOf } = axisOf(chapters, at(3_602_100));
    expect(folds.map(({ ms }) => ms)).to.deep.equal([3_600_000]);
    expect(placeOf(at(2_100))).to.be.closeTo(folds[0]!.from, 1e-9);
    expect(placeOf(at(1_802_100))).to.be.closeTo((folds[0]!.from + folds[0]!.to) / 2, 1e-9);
  });

  it("has one clock for several stories, on which the same time has one place", () => {
    const other = [
      chapter("attempt", { from: at(0), to: at(50) }), chapter("exhausted", { from: at(2_000), to: at(2_000) }),
    ];
    const { placeOf, times } = sharedClockOf([...chapters, ...other], at(3_000));
    expect(times.map((one) => one.at)).to.deep.equal([0, 50, 100, 2_000, 2_100, 3_000].map(at));
    const places = times.map((one) => one.place);
    expect([places[0], places.at(-1)]).to.deep.equal([0, 1]);
    for (const { at: moment, place } of times) expect(placeOf(moment)).to.be.closeTo(place, 1e-9);
    expect(sharedClockOf([chapters[0]!], at(9)).placeOf(at(0))).to.equal(0);
  });

  it("has the times in which the circuit was open, from an opening to the next closing", () => {
    expect(openTimes([at(5), at(7)], [at(9)], at(0))).to.deep.equal([{ from: at(5), to: at(9) }]);
    expect(openTimes([at(8)], [at(3)], at(0))).to.deep.equal([{ from: at(0), to: at(3) }, { from: at(8), to: null }]);
    expect(openTimes([], [], at(0))).to.deep.equal([]);
  });
});

describe("the words of a receiver", () => {
  it("are the message of its answer in one line, at most 120 characters", () => {
    expect(receiverWords('{"error":{"code":4,"message":"It moved"}}')).to.equal("It moved");
    expect(receiverWords('{"code":4}')).to.equal('{"code":4}');
    expect(receiverWords("<html><head><title>x</title></head><body><h1>Bad\n Gateway</h1></body></html>"))
      .to.equal("Bad Gateway");
    expect(receiverWords("  not\n now ")).to.equal("not now");
    expect(receiverWords("é".repeat(121))).to.equal(`${"é".repeat(120)}…`);
    expect(receiverWords("")).to.equal(undefined);
    expect(receiverWords("\uFFFDPNG\0")).to.equal(undefined);
  });
});

describe("the change before failures", () => {
  const change = (type: string, at: number) => ({ ...entry(at, type), data: {} }) as unknown as Schemas["HistoryItem"];

  it("is the newest of the destination in 24 hours", () => {
    const history = [change("IngestTokenRegenerated", 8), change("DestinationUrlChanged", 5),
      change("DestinationAuthRemoved", 3)];
    expect(suspectIn(history, time(45))).to.include({ did: "changed the URL", before: "40 s" });
    expect(suspectIn(history, "2026-11-26T18:41:06.000Z")).to.equal(undefined);
    expect(suspectIn(history, time(4))).to.include({ did: "removed the authentication" });
  });

  it("has words for every setting of a destination", () => {
    const settings = Object.entries(facts)
      .filter(([type, fact]) => "setting" in fact && /^Destination(?!Deleted)/.test(type));
    expect(settings).to.have.lengthOf.above(4);
    for (const [type] of settings) expect(suspectIn([change(type, 1)], time(2)), type).to.not.equal(undefined);
  });
});

describe("a binary answer", () => {
  it("shows as hexadecimal digits, eight bytes a line", () => {
    expect(hexText("\uFFFDPNG\r\n\u001A\nA\0é"))
      .to.equal("·· 50 4e 47 0d 0a 1a 0a  ·PNG····\n41 00 c3 a9              A···");
    const red = `\u001B[31m${"a red text ".repeat(5)}\u001B[0m`;
    const texts = ["", "{}\n", red, "a text with one NUL: \0", "\0", "\uFFFD"];
    expect(texts.map(isBinary)).to.deep.equal([false, false, false, false, true, true]);
  });
});

describe("an attempt as a curl command", () => {
  it("is quoted so that a shell finds no meaning in it", () => {
    expect(quoted("it's $(rm) `x` \\ \n\"!")).to.equal("'it'\\''s $(rm) `x` \\ \n\"!'");
    const command = curlCommand({
      url: "https://a.example/[1]?q='", headers: { Host: "a", "X-Key": "***", "X-Empty": "" }, body: "@file'",
    });
    expect(command).to.equal("curl --globoff --request POST 'https://a.example/[1]?q='\\''' \\\n"
      + "  --header 'X-Key: ***' \\\n  --header 'X-Empty;' \\\n  --data-raw '@file'\\'''");
  });

  it("does not exist where no argument can hold the payload", () => {
    expect(curlCommand({ url: "https://a.example", headers: {}, body: "a\0b" })).to.equal(undefined);
  });
});
