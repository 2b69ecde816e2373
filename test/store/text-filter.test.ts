import { expect } from "chai";
import { beginningWith, containing } from "../../src/store/text-filter.ts";

interface Row {
  _id: string;
  name: string;
}

describe("the filter of rows that contain a text", () => {
  it("asks for it in any of the fields, in either case", () => {
    expect(containing<Row>("a", ["_id", "name"])).to.deep.equal({
      $or: [{ _id: { $regex: "a", $options: "i" } }, { name: { $regex: "a", $options: "i" } }],
    });
  });

  it("gives no character a meaning", () => {
    const text = "^a.b*c+d?(e)[f]{1,2}|g\\h$ -/#";
    const [part] = containing<Row>(text, ["name"]).$or as { name: { $regex: string } }[];
    const pattern = new RegExp(`^${part?.name.$regex}$`, "i");
    expect(pattern.test(text)).to.equal(true);
    expect(pattern.test(text.replace(".", "x"))).to.equal(false);
  });
});

describe("the bounds of ids that begin with a text", () => {
  const isWithin = (id: string, text: string) => {
    const { $gte, $lt } = beginningWith(text);
    return id >= $gte && id < $lt;
  };

  it("hold all of those, and no others", () => {
    for (const id of ["sub_", "sub_0", "sub_zzzzzzzzzzzzzzzz"])
      expect(isWithin(id, "sub_"), id).to.equal(true);
    for (const id of ["sub", "suba", "src_0", "wh_0"]) expect(isWithin(id, "sub_"), id).to.equal(false);
  });
});
