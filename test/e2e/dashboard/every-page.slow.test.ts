import { everyPage } from "./every-page.ts";

describe("every page of the dashboard, light and wide, then dark and narrow", () => everyPage({ inEachLook: true }));
