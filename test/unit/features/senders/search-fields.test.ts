import { expect } from "chai";
import { problemOfSearchFields, tagsOfBody } from "../../../../src/features/senders/facts.ts";

const tagOf = (path: string, body: string) => tagsOfBody([{ name: "t", path }], body)["t"];

describe("search fields of a sender", () => {
  it("are found by JSON Pointers as RFC 6901 has them", () => {
    const body = JSON.stringify({
      foo: ["bar", "baz"], "": "empty", "a/b": "slash", "c%d": "percent", "m~n": "tilde", "~1": "both", " ": "space",
      "k\"l": "quote", deep: [{ er: [1, { est: "value" }] }],
    });
    const table: readonly (readonly [path: string, found: string | undefined])[] = [
      ["/foo/0", "bar"], ["/foo/1", "baz"], ["/", "empty"], ["/a~1b", "slash"], ["/c%d", "percent"],
      ["/m~0n", "tilde"], ["/~01", "both"], ["/ ", "space"], ["/k\"l", "quote"], ["/deep/0/er/1/est", "value"],
      ["", undefined], ["/foo", undefined], ["/foo/2", undefined], ["/foo/-", undefined], ["/foo/01", undefined],
      ["/foo/+1", undefined], ["/foo/length", undefined], ["/foo/0/0", undefined], ["/a/b", undefined],
      ["/deep/0", undefined], ["/Foo/0", undefined], ["/toString", undefined], ["/__proto__/a", undefined],
    ];
    for (const [path, found] of table) expect(tagOf(path, body), path).to.equal(found);
  });

  it("take numbers with every digit as received, strings and booleans, and no other value", () => {
    const body = '{"n":12345678901234567890,"d":1.0,"e":-1E+2,"z":0,"t":true,"f":false,"s":"x","l":null,"o":{},"a":[]}';
    const values = Object.fromEntries(["n", "d", "e", "z", "t", "f", "s", "l", "o", "a"].map((name) =>
      [name, tagOf(`/${name}`, body)]));
    expect(values).to.deep.equal({
      n: "12345678901234567890", d: "1.0", e: "-1E+2", z: "0", t: "true", f: "false", s: "x", l: undefined,
      o: undefined, a: undefined,
    });
  });

  it("take the last of several members of one name, as receivers that parse the body do", () => {
    expect(tagOf("/a", '{"a":1,"a":2.50}')).to.equal("2.50");
  });

  it("find a member that is named like the prototype", () => {
    expect(tagOf("/__proto__/x", '{"__proto__":{"x":7}}')).to.equal("7");
  });

  it("are skipped where no tag may have the value", () => {
    for (const value of ["", "a,b", "a\nb", "\u0085", "\ud800", "v".repeat(129), "\u{1f600}".repeat(129)]) {
      expect(tagOf("/a", JSON.stringify({ a: value })), JSON.stringify(value)).to.equal(undefined);
    }
    for (const value of ["v".repeat(128), "\u{1f600}".repeat(128), "a=b:c", " "]) {
      expect(tagOf("/a", JSON.stringify({ a: value })), JSON.stringify(value)).to.equal(value);
    }
  });

  it("have the names of tags, each once, and valid pointers", () => {
    const fine = { name: "order_1", path: "/a~0b~1c/0" };
    expect(problemOfSearchFields([])).to.equal(null);
    expect(problemOfSearchFields([fine, { name: "__proto__", path: "" }])).to.equal(null);
    for (const name of ["", "A", "a-b", "é", "n".repeat(33)]) {
      expect(problemOfSearchFields([fine, { ...fine, name }]), name).to.match(/^searchFields\.1\.name: must be 1 to 32/);
    }
    expect(problemOfSearchFields([fine, fine])).to.equal("searchFields.1.name: is there twice");
    for (const path of ["a", "a/b", "/a~", "/a~2", "#/a", "/\ud800"]) {
      expect(problemOfSearchFields([{ ...fine, path }]), path).to.match(/^searchFields\.0\.path: must be a JSON Pointer/);
    }
  });
});
