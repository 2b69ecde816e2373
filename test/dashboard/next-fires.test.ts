import { expect } from "chai";
import { nextFires } from "../../dashboard/lib/next-fires.ts";
import { nextMatchMs } from "../../src/sources/next-due.ts";

const times = (cron: string, zone: string, from: string) =>
  nextFires(cron, zone, Date.parse(from))?.map(ms => new Date(ms).toISOString());

describe("the next five times of a timer", () => {
  it("keep the hour of their zone when its clocks change", () => {
    expect(times("0 9 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z")).to.deep.equal([
      "2026-03-28T08:00:00.000Z",
      "2026-03-29T07:00:00.000Z",
      "2026-03-30T07:00:00.000Z",
      "2026-03-31T07:00:00.000Z",
      "2026-04-01T07:00:00.000Z",
    ]);
    expect(times("0 9 * * *", "Europe/Berlin", "2026-10-23T12:00:00Z")).to.deep.equal([
      "2026-10-24T07:00:00.000Z",
      "2026-10-25T08:00:00.000Z",
      "2026-10-26T08:00:00.000Z",
      "2026-10-27T08:00:00.000Z",
      "2026-10-28T08:00:00.000Z",
    ]);
  });

  it("are those of the server in the hour that is left out and in the hour that comes twice", () => {
    for (const cron of ["30 2 * * *", "*/20 2 * * *", "*/30 * * * *"]) {
      for (const from of ["2026-03-28T23:30:00Z", "2026-10-24T23:30:00Z", "2026-10-25T00:10:00Z"]) {
        const wanted: number[] = [];
        while (wanted.length < 5) {
          wanted.push(nextMatchMs(cron, "Europe/Berlin", wanted.at(-1) ?? Date.parse(from)));
        }
        expect(nextFires(cron, "Europe/Berlin", Date.parse(from)), `${cron} from ${from}`).to.deep.equal(
          wanted,
        );
      }
    }
  });

  it("are those of what a nickname means", () => {
    expect(nextFires("@midnight", "UTC", 0)).to.deep.equal(nextFires("0 0 * * *", "UTC", 0));
  });

  it("are none for a text that is not a cron expression of five fields", () => {
    for (const text of ["", "* * * *", "* * * * * *", "61 * * * *", "*/100 * * * *", "@reboot"]) {
      expect(nextFires(text, "UTC"), text).to.equal(null);
    }
  });
});
