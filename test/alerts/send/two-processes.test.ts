import { expect } from "chai";
import { createUser } from "../../../src/accounts/users.ts";
import { raiseAlert } from "../../../src/alerts/raise.ts";
import { Mailboxes } from "../../../src/models/alert.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { bodyOf, type SmtpReceiver, startSmtpReceiver } from "../../support/smtp-receiver.ts";
import { sweep } from "../../support/sweep.ts";
import { until } from "../../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../../workers/worker-process.ts";

const USERS = 5;

describe("mails about alerts of two processes", () => {
  let platform: TestPlatform;
  let smtp: SmtpReceiver;
  let mail: Record<string, string>;
  let processes: WorkerProcess[] = [];

  before(async () => {
    smtp = await startSmtpReceiver({ isPlain: true });
    mail = { SMTP_URL: `smtp://127.0.0.1:${smtp.port}?from=alerts@example.com` };
    platform = await openTestPlatform(mail);
  });
  after(async () => {
    for (const one of processes) {
      one.kill("SIGKILL");
      await one.ended;
    }
    await platform.destroy();
    await smtp.close();
  });

  const raise = async (ownerId: string, message: string) =>
    await raiseAlert(platform, {
      ownerId,
      type: "webhook.failing",
      subject: null,
      sinceMs: platform.clock(),
      message,
    });

  it("are sent once each, with all alerts of the hour, although both send at the same time @long", async () => {
    const users = Array.from({ length: USERS }, (_, n) => `two-processes-${n}@example.test`);
    for (const email of users) {
      const { id } = await createUser(platform, { email });
      for (const message of ["the first", "the second"]) {
        await raise(id, message);
        await sweep(platform, "alerts");
      }
    }
    const release = smtp.hold();
    const env = { ...environmentOf(platform.config), ...mail, SWEEP_EVERY: "1s" };
    processes = [spawnWorker("runs", env), spawnWorker("runs", env)];
    for (const one of processes) await whenReady(one);
    await Mailboxes(platform.mongo).updateMany({}, { $set: { due_at: new Date(platform.clock() - 1) } });
    await until(() => smtp.held.length === 2, { what: "a mail of each process" });
    expect(new Set(smtp.held), "two mails of one digest").to.have.property("size", 2);
    release();
    const isDone = async () =>
      (await Mailboxes(platform.mongo).countDocuments({ due_at: { $exists: true } })) === 0;
    await until(isDone, { what: "all mails" });
    expect(smtp.mails.flatMap(({ to }) => to).sort()).to.deep.equal(users);
    for (const one of smtp.mails) expect(bodyOf(one)).to.contain("the first").and.to.contain("the second");
  });
});
