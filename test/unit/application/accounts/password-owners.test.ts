import { expect } from "chai";
import { addressOwner, tenantOwner } from "../../../../src/application/accounts/password-owners.ts";

describe("the owners of passwords", () => {
  it("are each address of IPv4, and each /64 of IPv6", () => {
    for (const [address, owner] of [
      ["192.0.2.1", "192.0.2.1"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
      ["2001:db8:1:2::", "2001:db8:1:2"],
      ["2001:db8:1:2::6", "2001:db8:1:2"],
      ["2001:db8::6", "2001:db8:0:0"],
      ["2001::3:4:5:6:7:8", "2001:0:3:4"],
      ["::2:3:4:5:6:7:8", "0:2:3:4"],
      ["::1", "0:0:0:0"],
      ["::", "0:0:0:0"],
      ["", ""],
    ] as const) {
      expect(addressOwner(address), address).to.equal(`address:${owner}`);
    }
  });

  it("are no tenant where they are an address", () => {
    expect(tenantOwner("192.0.2.1")).to.not.equal(addressOwner("192.0.2.1"));
  });
});
