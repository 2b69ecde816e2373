// runs-long: npm test has test/flows, where processes are killed at exact steps

import { expect } from "chai";
import { besideDeadEndpoint } from "./dead-endpoint.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { EVENTS, isFullSize, type Lab, openLab, PROCESSES } from "./lab.ts";
import { startLoad } from "./load.ts";
import { startWithoutStores } from "./without-stores.ts";

/**
 * Nothing is lost (docs/design.md#guarantee-1), a repeat has the same `webhook-id` (docs/design.md#guarantee-2), and
 * event ids strictly increase (docs/design.md#guarantee-3).
 */
describe("faults under load", function () {
  this.timeout(isFullSize ? 30 * 60_000 : 300_000);
  let lab: Lab;
  let withoutStores: Awaited<ReturnType<typeof startWithoutStores>>;

  before(async () => {
    lab = await openLab();
    // These processes wait for their stores while the other tests run.
    withoutStores = await startWithoutStores(lab.env);
  });
  after(async () => {
    withoutStores?.kill();
    await lab?.close();
  });

  async function survive({ title, inject, times, isClean }: Fault, name: string): Promise<void> {
    const startedAt = Date.now();
    const load = startLoad(lab, name);
    let done = 0;
    while (done < times || (isFullSize && !load.isSent() && times > 1)) {
      await inject(lab, load, done);
      done += 1;
      load.allow(done / times);
    }
    await lab.ready(...PROCESSES);
    const { lost, repeats } = await load.finish();
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    if (isFullSize) {
      console.log(
        `    ${title}: ${EVENTS} events, ${done} faults, ${lost.length} lost, ${repeats} repeats, ${seconds} s`,
      );
    }
    expect(lost, "lost").to.deep.equal([]);
    if (isClean) expect(repeats, "repeats").to.equal(0);
  }

  for (const [i, fault] of FAULTS.entries()) {
    const what = fault.isClean ? "nothing is lost or sent twice" : "nothing is lost";
    it(`${fault.title}: ${what}, and event ids are stable and increase`, () => survive(fault, String(i)));
  }

  it("both stores away at the start: each process waits for them, and exits with one line", () =>
    withoutStores.check());

  it("many events for an endpoint that never responds: events for a healthy one are still delivered", () =>
    besideDeadEndpoint(lab).then(() => undefined));
});
