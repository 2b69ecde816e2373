import { expect } from "chai";
import { besideDeadEndpoint } from "./dead-endpoint.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { EVENTS, isFullSize, type Lab, openLab, PROCESSES } from "./lab.ts";
import { startLoad } from "./load.ts";
import { startWithoutStores } from "./without-stores.ts";

/** design.md, guarantees 1 to 3: nothing is lost, a repeat is known by its `webhook-id`, event ids strictly increase. */
describe("under faults", function () {
  this.timeout(isFullSize ? 30 * 60_000 : 120_000);
  let lab: Lab;
  let withoutStores: Awaited<ReturnType<typeof startWithoutStores>>;

  before(async () => {
    lab = await openLab();
    // They wait for their stores beside all the others.
    withoutStores = await startWithoutStores(lab.env);
  });
  after(async () => {
    withoutStores?.kill();
    await lab?.close();
  });

  async function through({ title, strike, strokes, clean }: Fault, name: string): Promise<void> {
    const begunAt = Date.now();
    const load = startLoad(lab, name);
    let done = 0;
    while (done < strokes || (isFullSize && !load.isSent() && strokes > 1)) {
      await strike(lab, load, done);
      done += 1;
      load.struck(done / strokes);
    }
    await lab.ready(...PROCESSES);
    const { lost, repeats } = await load.settled();
    const seconds = Math.round((Date.now() - begunAt) / 1000);
    if (isFullSize) {
      console.log(
        `    ${title}: ${EVENTS} events, ${done} strokes, ${lost.length} lost, ${repeats} repeats, ${seconds} s`,
      );
    }
    expect(lost, "lost").to.deep.equal([]);
    if (clean) expect(repeats, "repeats").to.equal(0);
  }

  for (const [i, fault] of FAULTS.entries()) {
    const what = fault.clean ? "nothing is lost or comes twice" : "nothing is lost";
    it(`${fault.title}: ${what}, ids stay and increase`, () => through(fault, String(i)));
  }

  it("both stores away at the start: each process waits for them, and ends with one line", () =>
    withoutStores.check());

  it("thousands of events for an endpoint that never answers: those of a healthy one go on beside them", () =>
    besideDeadEndpoint(lab).then(() => undefined));
});
