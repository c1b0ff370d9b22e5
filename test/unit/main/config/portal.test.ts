import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { readConfig } from "../../../../src/main/config/config.ts";

describe("settings of the portal", () => {
  const folder = mkdtempSync(join(tmpdir(), "portal-"));
  after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.from("rest")]);

  it("take an address, a name, a colour, an image and origins", () => {
    const { publicUrl, portal } = readConfig({
      RELAY_PUBLIC_URL: "https://relay.example.com/hooks/", RELAY_PORTAL_NAME: "Example Shop",
      RELAY_PORTAL_COLOR: "#1A4FA3", RELAY_PORTAL_LOGO: file("logo.svg", '<?xml version="1.0"?>\n<svg></svg>'),
      RELAY_PORTAL_ORIGINS: "https://app.example.com, http://localhost:3000/",
    });
    expect(publicUrl).to.equal("https://relay.example.com/hooks");
    expect(portal).to.deep.include({
      name: "Example Shop", color: "#1a4fa3", origins: ["https://app.example.com", "http://localhost:3000"],
    });
    expect(portal.logo?.type).to.equal("image/svg+xml");
    expect(readConfig({ RELAY_PORTAL_LOGO: file("logo.png", png) }).portal.logo?.type).to.equal("image/png");
    expect(readConfig({ RELAY_PUBLIC_URL: "http://localhost:8080" }).publicUrl).to.equal("http://localhost:8080");
  });

  for (const color of ["#767676", "#0000ff", "#000000"]) {
    it(`take the colour ${color}, on which white text can be read`, () => {
      expect(readConfig({ RELAY_PORTAL_COLOR: color }).portal.color).to.equal(color);
    });
  }

  for (const [variable, value] of [
    ["RELAY_PORTAL_COLOR", "#777777"], ["RELAY_PORTAL_COLOR", "#ffffff"], ["RELAY_PORTAL_COLOR", "#ff0"],
    ["RELAY_PORTAL_COLOR", "red"], ["RELAY_PUBLIC_URL", "relay.example.com"], ["RELAY_PUBLIC_URL", "ftp://relay"],
    ["RELAY_PUBLIC_URL", "https://a:b@relay"], ["RELAY_PUBLIC_URL", "https://relay/?a=b"],
    ["RELAY_PORTAL_ORIGINS", "*"], ["RELAY_PORTAL_ORIGINS", "https://app.example.com/path"],
    ["RELAY_PORTAL_ORIGINS", "https://*.example.com"], ["RELAY_PORTAL_ORIGINS", "https://a; script-src *"],
    ["RELAY_PORTAL_NAME", "x".repeat(101)], ["RELAY_PORTAL_NAME", "a\u0007b"],
    ["RELAY_PORTAL_LOGO", "/nowhere/logo.svg"],
  ] as const) {
    it(`refuse ${variable}=${JSON.stringify(value.slice(0, 30))} by its name`, () => {
      expect(() => readConfig({ [variable]: value })).to.throw(new RegExp(`^${variable}: must [^\n]+$`));
    });
  }

  it("refuse an image that is too large, or neither SVG nor PNG", () => {
    const read = (path: string) => () => readConfig({ RELAY_PORTAL_LOGO: path });
    const large = Buffer.concat([png, Buffer.alloc(65_536)]);
    expect(read(file("large.png", large))).to.throw(/^RELAY_PORTAL_LOGO: .*65536 bytes/);
    for (const content of ["", "<html><svg></svg></html>", "GIF89a"]) {
      expect(read(file("none.svg", content)), content).to.throw(/^RELAY_PORTAL_LOGO: must be an SVG or PNG image/);
    }
  });
});
