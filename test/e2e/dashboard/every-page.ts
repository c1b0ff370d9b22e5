import { expect } from "chai";
import { Producer } from "../../../packages/client/src/index.ts";
import { axeViolations } from "../../support/axe.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { pagesOf } from "../../support/dashboard-pages.ts";
import { furnish, furnishedReceiver, type Furnished } from "../../support/furnished-tenant.ts";
import { openAccount } from "../../support/relay.ts";

/** Texts of the page that have a character that turns the direction; fields and editors may. */
const turningTexts = String.raw`[document.title, ...[...document.querySelectorAll("body *")].flatMap((element) => [
  ...[...element.childNodes].filter((node) => node.nodeType === 3 && element.tagName !== "TEXTAREA")
    .map((node) => node.data),
  ...["title", "aria-label", "placeholder"].map((name) => element.getAttribute(name) ?? ""),
])].filter((text) => /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/.test(text))`;

/** Fields, buttons, links and texts of charts that overlap, at the places where a person sees them. */
const coveredParts = String.raw`(() => {
  // An open dialog lies over the page.
  const top = document.querySelector("dialog:modal") ?? document;
  const parts = [...top.querySelectorAll("a, button, input, select, textarea, summary, svg text")];
  const isSeen = (element, x, y) => {
    for (let box = element; box !== null; box = box.parentElement) {
      const { left, right, top, bottom } = box.getBoundingClientRect();
      const isClipped = box === element || getComputedStyle(box).overflow !== "visible";
      if (isClipped && (x < left || x > right || y < top || y > bottom)) return false;
    }
    // The panel of an event lies over the list where that is narrow.
    const panel = document.elementFromPoint(x, y)?.closest("aside");
    return element.checkVisibility({ visibilityProperty: true }) && (!panel || panel.contains(element));
  };
  const seen = parts.map((part) => ({ part, box: part.getBoundingClientRect() })).filter(({ part, box }) =>
    box.width > 1 && isSeen(part, (box.left + box.right) / 2, (box.top + box.bottom) / 2));
  return seen.flatMap(({ part, box }, at) => seen.slice(at + 1).filter((other) =>
    !part.contains(other.part) && !other.part.contains(part)
    && Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 2
    && Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 2,
  ).map((other) => part.outerHTML.slice(0, 120) + " and " + other.part.outerHTML.slice(0, 120)));
})()`;

/** The tests of a suite: axe looks at every page in one look, or in each look with dialogs and without content, too. */
export function everyPage({ inEachLook }: { readonly inEachLook: boolean }): void {
  const stage = dashboardStage({
    receiver: { record: false, script: furnishedReceiver() }, env: { RELAY_RETRY_SCHEDULE: "100ms" },
  });
  let full: Furnished;
  let mirroredEvent: string;
  let empty: { readonly email: string; readonly password: string };
  let seen: Visit;

  before(async () => {
    full = await furnish(stage.relay.url, `https://127.0.0.1:${stage.receiver.port}`);
    mirroredEvent = await nameMirrored(full);
    empty = await openAccount(stage.relay.url);
  });
  beforeEach(async () => {
    seen = await stage.visit();
  });

  /** Gives things and events of the tenant texts that turn the direction of later text. */
  async function nameMirrored({ owner, senderId, tenantId }: Furnished): Promise<string> {
    const mirrored = "\u202Eshop \u2067אבג";
    await owner.updateTenant({ id: tenantId }, { name: `${mirrored} ${process.pid}` });
    await owner.updateSender({ id: senderId }, {
      name: mirrored, searchFields: [{ name: "order", path: "/order" }],
      mapping: { language: "jmespath", expression: `{order: data.order, name: '${mirrored}'}` },
    });
    await owner.createServiceAccount({ name: mirrored, role: 0 });
    const { ingestToken } = await owner.regenerateSenderToken({ id: senderId });
    const { apiKey } = await owner.createApiKey({ name: mirrored });
    const producer = new Producer({ url: stage.relay.url, apiKey, tenantId, ingestToken });
    const header = Buffer.from(mirrored).toString("latin1");
    const said = { idempotencyKey: header, eventType: header, ownerId: header, tags: { shop: header } };
    const { eventId } = await producer.post({ order: mirrored, customer: { name: mirrored } }, said);
    await owner.orderReplay({ tag: `shop:${mirrored}`, status: "Succeeded" });
    return eventId;
  }

  const paths = () => {
    const { events, destinationId, senderId } = full;
    const dialogs = [
      "/destinations?new=yes", ...["test", "token", "delete"].map((act) => `/destinations/${destinationId}?act=${act}`),
      "/senders?new=sender", ...["token", "delete"].map((act) => `/senders/${senderId}?act=${act}`),
      ...["replay", "cancel", "purge"].map((kind) => `/operations?new=${kind}`),
    ];
    const stories = [events.delivered, events.retried, events.failed, events.cancelled, mirroredEvent]
      .map((id) => `/events/${id}`);
    const withColumns = "/events?columns=%2Forder%0A%2Fcustomer%2Fname";
    return [...pagesOf(full), withColumns, ...stories, ...(inEachLook ? dialogs : []), "/no/such/page"];
  };
  const emptyPaths = [
    "/", "/start", "/incidents", "/incidents?State=open", "/events", "/events?Status=Cancelled", "/messages",
    "/destinations", "/senders", "/operations", "/audit", "/keys", "/people", "/settings",
    "/events/0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e03",
  ];

  /** The last one is a window of 1280 px at 200 % zoom. */
  const looks = [["light", 1280, 800], ["dark", 320, 800], ["light", 640, 400]] as const;

  async function faultsOf(all: readonly string[]): Promise<Record<string, readonly string[]>> {
    const { page } = seen;
    const faults: Record<string, readonly string[]> = {};
    for (const [at, path] of all.entries()) {
      await seen.go(path);
      await seen.loaded();
      const turned = await page.evaluate<string[]>(turningTexts);
      if (turned.length > 0) faults[`${path}, texts that turn what follows them`] = turned;
      for (const [number, [theme, width, height]] of looks.entries()) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: theme });
        const found = inEachLook || at % looks.length === number ? await axeViolations(page) : [];
        const tooWide = await page.evaluate<number>(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth");
        if (tooWide > 0) found.push(`${tooWide} px too wide`);
        found.push(...await page.evaluate<string[]>(coveredParts));
        if (found.length > 0) faults[`${path}, ${theme} and ${width} px wide`] = found;
      }
    }
    return faults;
  }

  it("has no violation that axe finds, scrolls down only, and no name turns a line", async () => {
    expect(await faultsOf(["/new", "/login"])).to.deep.equal({});
    await signIn(seen, full);
    expect(await faultsOf(paths())).to.deep.equal({});
  }).timeout(400_000);

  it("is legible in forced colours: each colour has a word beside it", async () => {
    const { page } = seen;
    await page.emulateMedia({ forcedColors: "active" });
    await seen.go("/login");
    await signIn(seen, full);
    await seen.go("/events");
    await seen.loaded();
    expect(await axeViolations(page)).to.deep.equal([]);
  });

  if (!inEachLook) return;

  it("has none while the tenant is empty", async () => {
    await seen.go("/login");
    await signIn(seen, empty);
    expect(await faultsOf(emptyPaths)).to.deep.equal({});
  }).timeout(400_000);
}
