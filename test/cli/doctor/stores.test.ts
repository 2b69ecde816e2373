import { expect } from "chai";
import { judgeMongodb, type MongodbReadings } from "../../../src/cli/doctor/stores.ts";

const GB = 1024 ** 3;
const WELL: MongodbReadings = {
  version: "6.0.20",
  hello: { setName: "rs0", isWritablePrimary: true },
  disk: { fsUsedSize: 60 * GB, fsTotalSize: 100 * GB },
};

/** The findings that are not ok. */
const found = (changed: Partial<MongodbReadings>) =>
  judgeMongodb({ ...WELL, ...changed }).filter(({ severity }) => severity !== "ok");

describe("what the doctor says of MongoDB", () => {
  it("is ok where all is well, a line for each thing", () => {
    expect(judgeMongodb(WELL)).to.deep.equal([
      { check: "MongoDB", severity: "ok", message: "version 6.0.20" },
      { check: "replica set", severity: "ok", message: "rs0 has a primary" },
      { check: "disk of MongoDB", severity: "ok", message: "40.0 of 100.0 GB free" },
    ]);
  });

  it("is a problem where the disk is nearly full", () => {
    expect(found({ disk: { fsUsedSize: 9.5 * GB, fsTotalSize: 10 * GB } })).to.deep.equal([
      {
        check: "disk of MongoDB",
        severity: "problem",
        message: "0.5 of 10.0 GB free",
        advice: "free space or enlarge it: MongoDB stops when it is full",
      },
    ]);
  });

  it("is ok where a large disk has few percent left, or a small one few gigabytes", () => {
    expect(found({ disk: { fsUsedSize: 995 * GB, fsTotalSize: 1000 * GB } })).to.deep.equal([]);
    expect(found({ disk: { fsUsedSize: 3 * GB, fsTotalSize: 4 * GB } })).to.deep.equal([]);
  });

  it("is a note where the server does not say how full its disk is", () => {
    expect(found({ disk: {} })).to.deep.equal([
      {
        check: "disk of MongoDB",
        severity: "note",
        message: "MongoDB does not say how full it is",
        advice: "watch the disk by other means",
      },
    ]);
  });

  it("is a problem where it is no replica set, or has no primary", () => {
    expect(found({ hello: { isWritablePrimary: true } })).to.deep.equal([
      {
        check: "replica set",
        severity: "problem",
        message: "MongoDB is not a replica set, so it has no transactions",
        advice: "start mongod with --replSet and call rs.initiate()",
      },
    ]);
    expect(found({ hello: { setName: "rs0", isWritablePrimary: false } })).to.deep.equal([
      {
        check: "replica set",
        severity: "problem",
        message: "rs0 has no primary that accepts writes",
        advice: "look at rs.status()",
      },
    ]);
  });

  it("is a problem where the version is too old", () => {
    expect(found({ version: "5.0.31" })).to.deep.equal([
      {
        check: "MongoDB",
        severity: "problem",
        message: "version 5.0.31 is too old",
        advice: "install MongoDB 6.0 or newer",
      },
    ]);
    expect(found({ version: "6.0.0" })).to.deep.equal([]);
    expect(found({ version: "10.0.0" }), "newer than what was tested").to.deep.equal([
      {
        check: "MongoDB",
        severity: "note",
        message: "MongoDB 10.0.0 is newer than 6.x, the newest tested version",
        advice: "try it on a copy first, or install one that was tested",
      },
    ]);
  });
});
