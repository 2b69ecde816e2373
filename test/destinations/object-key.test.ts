import { expect } from "chai";
import { DEFAULT_KEY, keyProblem, objectKey } from "../../src/destinations/s3/send.ts";

const MESSAGE = {
  id: "dlv_0CjBBm3Xs6JpR9wF",
  eventId: "1700000000000-3",
  emitterId: "dc_0CjB9uPc7RfT1xLs",
  eventName: "made/orders ü",
};

describe("keys of objects in a bucket", () => {
  it("are made of the day and the ids of the event, the same for each attempt", () => {
    expect(objectKey(DEFAULT_KEY, MESSAGE)).to.equal("2023-11-14/dc_0CjB9uPc7RfT1xLs/1700000000000-3.json");
    expect(objectKey("{event_name}/{date}T{hour}/{id}", MESSAGE)).to.equal(
      "made%2Forders%20%C3%BC/2023-11-14T22/dlv_0CjBBm3Xs6JpR9wF",
    );
  });

  it("accept only patterns that give each event a key of its own", () => {
    for (const pattern of [DEFAULT_KEY, "{id}", "a b/{id}.json", "{event_id}-{emitter_id}"]) {
      expect(keyProblem(pattern), pattern).to.equal(undefined);
    }
    for (const [pattern, problem] of [
      ["events.json", /^must have \{id\}/],
      ["{event_id}", /^must have \{id\}/],
      ["{date}/{emitter_id}", /^must have \{id\}/],
      ["{id}/{secret}", /^\{secret\} is none of /],
      ["{id}/{constructor}", /^\{constructor\} is none of /],
      ["{id}/{", /between \{ and \}/],
      ["/{id}", /no empty part/],
      ["{id}/", /no empty part/],
      ["../{id}", /no empty part/],
      ["{id}\n", /control characters/],
    ] as const) {
      expect(keyProblem(pattern), pattern).to.match(problem);
    }
  });
});
