import { everyPage } from "./every-page.ts";

describe("every page of the dashboard, light and wide or dark and narrow", () => everyPage({ inEachLook: false }));
