import { expect } from "chai";
import { csvOf } from "../../dashboard/lib/csv.ts";

describe("rows as CSV", () => {
  const cells = (row: object) => csvOf([row]).split("\r\n")[1];

  it("have a line of names, and a column for each value that any of them has", () => {
    expect(
      csvOf([
        { id: "a", n: 1 },
        { id: "b", is: true, none: null },
      ]),
    ).to.equal("id,n,is,none\r\na,1,,\r\nb,,true,\r\n");
    expect(csvOf([])).to.equal("\r\n");
  });

  it("quote commas, quotes and line breaks", () => {
    expect(cells({ a: 'he said "no", twice', b: "two\nlines", c: "plain" })).to.equal(
      '"he said ""no"", twice","two\nlines",plain',
    );
  });

  it("have no formula that a spreadsheet would compute", () => {
    const hostile = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", '=HYPERLINK("http://x","y")'];
    for (const text of hostile) {
      const written = cells({ text }) ?? "";
      expect(written.replace(/^"/, ""), text).to.match(/^'/);
    }
    expect(cells({ number: -1 }), "a number of ours is none").to.equal("-1");
  });

  it("have the status of the last attempt, and no payloads", () => {
    const row = {
      id: "dlv_1",
      event_preview: '{"secret":1}',
      last_attempt: { status: 503, error: "HTTP status 503", response: "secret" },
      configured_props: { token: "secret" },
    };
    expect(csvOf([row])).to.equal(
      "id,last_attempt_status,last_attempt_error\r\ndlv_1,503,HTTP status 503\r\n",
    );
  });
});
