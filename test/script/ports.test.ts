import { createServer, type Server } from "node:net";
import { expect } from "chai";
import { choosePort, isFree } from "../../script/lib/ports.mjs";

const listen = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });

describe("the ports of the stores", () => {
  let taken: Server;
  let port: number;

  beforeEach(async () => {
    port = await choosePort(0);
    taken = await listen(port);
  });

  afterEach(done => {
    taken.close(() => done());
  });

  it("are the first free ports from the given one on", async () => {
    expect(await isFree(port)).to.equal(false);
    expect(await choosePort(port)).to.be.greaterThan(port);
  });

  it("are the remembered ones if those are free", async () => {
    const remembered = await choosePort(0);
    expect(await choosePort(port, remembered)).to.equal(remembered);
    expect(await choosePort(port, port)).to.not.equal(port);
  });
});
