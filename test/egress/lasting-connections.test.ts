import { expect } from "chai";
import { type Kept, LastingConnections } from "../../src/egress/lasting-connections.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { until } from "../support/until.ts";

class Connection implements Kept {
  isLost = false;
  isClosed = false;
  isOpen = () => !this.isLost && !this.isClosed;
  close = () => {
    this.isClosed = true;
  };
}

describe("lasting connections to destinations", () => {
  let opened: Connection[];
  beforeEach(() => {
    opened = [];
  });
  const open = async () => {
    const connection = new Connection();
    opened.push(connection);
    return connection;
  };
  const first = { id: "a", version: "1" };
  const nothing = async (connection: Connection) => connection;

  it("open one for all uses of a destination at once, and keep it for the next", async () => {
    const connections = new LastingConnections({ most: 10, idleMs: 60_000 });
    await Promise.all([1, 2, 3].map(() => connections.use(first, open, nothing)));
    await connections.use(first, open, nothing);
    expect(opened).to.have.length(1);
    connections.close();
    await until(() => opened[0]?.isClosed);
  });

  it("are closed when they are idle", async () => {
    const idleMs = LIMITS.destinationIdleMs.value / 1000;
    const connections = new LastingConnections({ most: 10, idleMs });
    await connections.use(first, open, nothing);
    await until(() => opened[0]?.isClosed && connections.size === 0);
  });

  it("stay open while they are used", async () => {
    const connections = new LastingConnections({ most: 1, idleMs: 1 });
    let end = () => {};
    const used = connections.use(first, open, () => new Promise<void>(resolve => (end = resolve)));
    await until(() => opened.length === 1);
    const other = connections.use({ id: "b", version: "1" }, open, nothing);
    expect(await other.catch(error => error.code)).to.equal("unavailable");
    expect(opened[0]?.isClosed).to.equal(false);
    end();
    await used;
    await connections.use({ id: "b", version: "1" }, open, nothing);
    expect(opened[0]?.isClosed).to.equal(true);
  });

  it("are opened again when they were lost, or could not be opened", async () => {
    const connections = new LastingConnections({ most: 10, idleMs: 60_000 });
    const failing = () => Promise.reject(new Error("no"));
    expect(await connections.use(first, failing, nothing).catch(error => error.message)).to.equal("no");
    const lost = await connections.use(first, open, nothing);
    lost.isLost = true;
    await connections.use(first, open, nothing);
    expect(opened).to.have.length(2);
  });

  it("are replaced when the settings change, once what uses them has ended", async () => {
    const connections = new LastingConnections({ most: 10, idleMs: 60_000 });
    let end = () => {};
    const used = connections.use(first, open, () => new Promise<void>(resolve => (end = resolve)));
    await until(() => opened.length === 1);
    await connections.use({ id: "a", version: "2" }, open, nothing);
    expect(opened.map(({ isClosed }) => isClosed)).to.deep.equal([false, false]);
    end();
    await used;
    await until(() => opened[0]?.isClosed);
    expect(opened[1]?.isClosed).to.equal(false);
  });

  it("are closed for others when there are too many, the one unused for longest first", async () => {
    const most = LIMITS.destinationConnections.value;
    const connections = new LastingConnections({ most, idleMs: 60_000 });
    const use = (n: number) => connections.use({ id: String(n), version: "1" }, open, nothing);
    for (let n = 0; n < most; n++) await use(n);
    await use(0);
    await use(most);
    await until(() => opened[1]?.isClosed);
    expect(opened.filter(({ isClosed }) => isClosed)).to.have.length(1);
    expect(connections.size).to.equal(most);
    connections.close();
  });
});
