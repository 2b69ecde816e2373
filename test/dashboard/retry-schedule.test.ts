import { expect } from "chai";
import { scheduleOf, scheduleText, waitFault } from "../../dashboard/lib/retry-schedule.ts";

describe("a retry schedule as it is typed", () => {
  it("is its waits, none for no retries, and empty for the server's own", () => {
    const same: [string, string[] | null][] = [
      ["", null],
      ["none", []],
      ["5s", ["5s"]],
      ["5s, 1m, 1h", ["5s", "1m", "1h"]],
    ];
    for (const [text, schedule] of same) {
      expect(scheduleOf(text), text).to.deep.equal(schedule);
      expect(scheduleText(schedule), text).to.equal(text);
    }
  });

  it("may have blanks, lines and commas between its waits, and the server says whether each is a duration", () => {
    expect(scheduleOf(" 5s 1m,\n2h ; soon ")).to.deep.equal(["5s", "1m", "2h", "soon"]);
    expect(scheduleOf(" None ")).to.deep.equal([]);
  });

  it("names the wait that is wrong, counted from one", () => {
    expect(waitFault("1 must be at least 1s")).to.equal("Wait 2 must be at least 1s");
    expect(waitFault("must have waits of at most 7d altogether")).to.match(/^must/);
    expect(waitFault(undefined)).to.equal(undefined);
  });
});
