import { expect } from "chai";
import { parseRedisUrl, type RedisUrl } from "../../../src/store/connections/redis-url.ts";

const NOTHING: RedisUrl = {
  mode: undefined,
  servers: [],
  masterName: undefined,
  username: undefined,
  password: undefined,
  database: 0,
  family: 0,
  isTls: false,
  sentinelUsername: undefined,
  sentinelPassword: undefined,
};

describe("the URL of Redis", () => {
  const read: [string, Partial<RedisUrl>][] = [
    ["redis://cache.test", { servers: [{ host: "cache.test", port: 6379 }] }],
    ["redis://cache.test/", { servers: [{ host: "cache.test", port: 6379 }] }],
    [
      "rediss://us%40er:p%3Aw%2C@[fd00::7]:6400/3",
      {
        servers: [{ host: "fd00::7", port: 6400 }],
        ...{ username: "us@er", password: "p:w,", database: 3, isTls: true },
      },
    ],
    [
      "redis://:secret@127.0.0.1:1?family=6",
      { servers: [{ host: "127.0.0.1", port: 1 }], password: "secret", family: 6 },
    ],
    [
      "redis://u:p@a:1, redis://b:2,redis://u:p@c",
      {
        mode: "cluster",
        servers: [
          { host: "a", port: 1 },
          { host: "b", port: 2 },
          { host: "c", port: 6379 },
        ],
        ...{ username: "u", password: "p" },
      },
    ],
    [
      "redis+sentinel://a.test,[fd00::8]:5000/my%20master",
      {
        mode: "sentinel",
        servers: [
          { host: "a.test", port: 26_379 },
          { host: "fd00::8", port: 5000 },
        ],
        masterName: "my master",
      },
    ],
    [
      "rediss+sentinel://u:p%40w@a:1/main/2?family=4",
      {
        ...{ mode: "sentinel", servers: [{ host: "a", port: 1 }], masterName: "main" },
        ...{ username: "u", password: "p@w", database: 2, family: 4, isTls: true },
      },
    ],
    [
      "redis+sentinel://a:1/main?sentinel_username=watch&family=4&sentinel_password=p%26w%3D",
      {
        ...{ mode: "sentinel", servers: [{ host: "a", port: 1 }], masterName: "main", family: 4 },
        ...{ sentinelUsername: "watch", sentinelPassword: "p&w=" },
      },
    ],
  ];
  for (const [text, wanted] of read) {
    it(`is read: ${text}`, () => {
      expect(parseRedisUrl(text)).to.deep.equal({ ...NOTHING, ...wanted });
    });
  }

  const rejected: [string, RegExp][] = [
    ["", /redis:\/\//],
    ["http://a", /redis:\/\//],
    ["redis://", /redis:\/\//],
    ["redis://a,http://b", /redis:\/\//],
    ["redis://a,rediss://b", /must not mix redis:\/\/ and rediss:\/\//],
    ["redis://a/1,redis://b", /only database 0/],
    ["redis://u:hunter2@a,redis://u:hunter3@b", /same user and password/],
    ["redis://a/one", /number of a database/],
    ["redis://a/20000", /database with a number below/],
    ["redis://a?keyPrefix=x", /a query other than/],
    ["redis://u:%E0%A4%A@a", /percent-encoded/],
    ["redis+sentinel://a:26379", /MASTER/],
    // A slash in a password that is not encoded: the rest must not become a host, which errors show.
    ["redis+sentinel://user:12/34@a:26379", /MASTER/],
    ["redis+sentinel:///main", /MASTER/],
    ["redis+sentinel://a:b/main", /host names/],
    ["redis+sentinel://a,/main", /host names/],
    [Array(101).fill("redis://a").join(), /100 servers/],
  ];
  for (const [text, wanted] of rejected) {
    it(`is rejected without a word of its password: ${text.slice(0, 60)}`, () => {
      expect(() => parseRedisUrl(text))
        .to.throw(wanted)
        .with.property("message")
        .that.does.not.match(/hunter/);
    });
  }
});
