import { expect } from "chai";
import { boxesOf, type Link, neighboursOf } from "../../dashboard/lib/neighbours.ts";

const link = (n: number, listener_id: string, event_name = ""): Link => ({
  ...{ id: `sub_${n}`, emitter_id: "dc_till", listener_id, event_name },
  listener_name: `name of ${listener_id}`,
});
const many = (kind: string, count: number) =>
  Array.from({ length: count }, (_, n) => link(n, `${kind}_${String(n).padStart(3, "0")}`));

const drawn = (links: Link[], open: string[] = []) =>
  boxesOf(neighboursOf(links, "listener"), new Set(open)).map(box =>
    box.type === "thing" ? box.neighbour.id : `${box.count} ${box.kind} ${box.type}`,
  );

describe("the neighbours on the map", () => {
  it("are each thing once, with all its channels", () => {
    const neighbours = neighboursOf(
      [link(1, "wh_a"), link(2, "dc_b"), link(3, "wh_a", "refunds")],
      "listener",
    );
    expect(neighbours.map(({ id, links }) => [id, links.length])).to.deep.equal([
      ["dc_b", 1],
      ["wh_a", 2],
    ]);
  });

  it("are folded by kind beyond a dozen, with their number, but for a few of a kind", () => {
    expect(drawn(many("wh", 12))).to.have.length(12);
    expect(drawn([...many("wh", 94), link(1, "ds_a")])).to.deep.equal(["ds_a", "94 wh group"]);
  });

  it("are drawn when their group is opened, as far as they can be read", () => {
    const open = drawn(many("wh", 94), ["wh"]);
    expect(open[0]).to.equal("94 wh group");
    expect(open).to.have.length(42);
    expect(open.at(-1)).to.equal("54 wh rest");
  });
});
