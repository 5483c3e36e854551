import { describe, expect, it } from "vitest";

import { createSealer, decode, encode, isSealError } from "../src/index.ts";
import { quickest } from "./cpu-time.ts";
import { refusal } from "./refusal.ts";

describe("cycles and bounds", () => {
  it("SEAL-18 names both ends of a cycle", () => {
    const list: unknown[] = [];
    list.push({ back: list });
    const error = refusal(() => encode({ a: { list } }));
    expect(error.path).toBe("a.list[0].back");
    expect(error.found).toBe("a cycle back to a.list");
    const self: { self?: unknown } = {};
    self.self = self;
    expect(refusal(() => encode(self)).found).toBe("a cycle back to the value itself");
    const map = new Map<unknown, unknown>();
    map.set("m", map);
    expect(refusal(() => encode(map)).path).toBe("values(0)");
    const set = new Set<unknown>();
    set.add(set);
    expect(refusal(() => encode([set])).found).toBe("a cycle back to [0]");
  });

  it("SEAL-18 finds a cycle where it closes at the last bracket that a limit leaves", () => {
    const self: unknown[] = [];
    self.push(self);
    const shallow = (depth: number) => createSealer({ limits: { depth } });
    const error = refusal(() => shallow(1).encode(self));
    expect([error.path, error.found]).toEqual(["[0]", "a cycle back to the value itself"]);
    const outer = { inner: {} as { back?: object } };
    outer.inner.back = outer;
    const closed = refusal(() => shallow(2).encode([outer.inner]));
    expect([closed.path, closed.found]).toEqual(["[0].back", "it nests deeper than 2"]);
    const found = refusal(() => shallow(3).encode([outer.inner]));
    expect([found.path, found.found]).toEqual(["[0].back.inner", "a cycle back to [0]"]);
  });

  it("SEAL-20 SEAL-21 advises what to do about each limit", () => {
    const value = [["x"], ["y"]];
    const advices = [{ depth: 1 }, { nodes: 3 }, { brackets: 2 }, { bytes: 4 }].map(
      (limits) => refusal(() => createSealer({ limits }).encode(value)).advice,
    );
    const bulk = "Keep bulk data outside";
    expect(advices).toEqual(["Flatten it, or raise limits.depth", bulk, bulk, bulk]);
  });

  it("SEAL-18 finds a cycle in a wide object before its bounds", () => {
    const wide: Record<string, unknown> = { items: Array.from({ length: 20_000 }, () => 0) };
    wide["self"] = wide;
    expect(refusal(() => encode(wide)).found).toMatch(/^a cycle/);
  });

  it("SEAL-19 meets a bomb of shared references with its budget", () => {
    let bomb: unknown = [1];
    for (let i = 0; i < 40; i++) bomb = [bomb, bomb];
    expect(refusal(() => encode(bomb)).found).toMatch(/more than 250000 lists and objects/);
    expect(quickest(() => encode(bomb), 2000)).toBeLessThan(2000);
    let wide: unknown = [1, 2, 3, 4, 5, 6, 7, 8];
    for (let i = 0; i < 7; i++) wide = Array.from({ length: 8 }, () => wide);
    expect(refusal(() => encode(wide)).found).toMatch(/more than 1000000 values/);
  });

  function nest(depth: number, wrap: (inner: unknown) => unknown): unknown {
    let value: unknown = [];
    for (let i = 1; i < depth; i++) value = wrap(value);
    return value;
  }

  it("SEAL-20 takes 256 brackets and refuses 257, with the path", () => {
    expect(encode(nest(256, (inner) => [inner]))).toHaveLength(512);
    const error = refusal(() => encode(nest(257, (inner) => [inner])));
    expect(error.found).toBe("it nests deeper than 256");
    expect([error.limit, error.figure]).toEqual([256, 257]);
    expect(error.path).toMatch(/^\[0\]\[0\].* … \[0\]/);
  });

  it.each([
    ["objects", (inner: unknown) => ({ a: inner })],
    ["arrays", (inner: unknown) => [inner]],
    ["maps by value", (inner: unknown) => new Map([[1, inner]])],
    ["maps by key", (inner: unknown) => new Map([[inner, 1]])],
    ["sets", (inner: unknown) => new Set([inner])],
    ["lists of pairs", (inner: unknown) => ({ $a: inner })],
  ] as const)("SEAL-20 refuses 100,000 nested %s without running out of stack", (_, wrap) => {
    expect(refusal(() => encode(nest(100_000, wrap))).found).toMatch(/deeper/);
  });

  it("SEAL-20 counts the brackets that tags add, so that all that is written is read", () => {
    for (const limit of [1, 2, 3, 4, 5, 6, 7]) {
      const sealer = createSealer({ limits: { depth: limit } });
      for (const value of [
        -0,
        "\0",
        [1],
        [-0],
        new Map(),
        new Map([[1, 2]]),
        new Map([[-0, {}]]),
        new Set([1]),
        new Set([[]]),
        { $a: 1 },
        { $a: [] },
        { "\0": 1 },
        { a: "\0" },
        new Uint8Array(1),
      ]) {
        const written = encode(value);
        expect([limit, written, accepted(() => sealer.encode(value))]).toEqual([
          limit,
          written,
          accepted(() => sealer.decode(written)),
        ]);
      }
    }
  });

  it.each(["nodes", "brackets"])(
    "SEAL-21 counts the %s of a text as the reader counts them",
    (of) => {
      const values = [
        1,
        [1, 2],
        { a: 1 },
        -0,
        "\0",
        new Map([[1, 2]]),
        new Set([1, -0]),
        { $a: 1, b: 2 },
        { "\0": 1 },
        new Map([[{}, new Set([[], {}])]]),
        [[], {}, [{}]],
        { a: { b: {} }, $c: [] },
        decode('[{"$duration":{"hours":1,"minutes":2}},{"$instant":"2026-01-01T00:00:00Z"}]'),
        decode('{"$zoned":["2026-01-01T00:00:00Z","UTC","iso8601"]}'),
        new Date(0),
        new Uint8Array(2),
        5n,
        undefined,
      ];
      for (const value of values) {
        for (let most = 1; most < 12; most++) {
          const sealer = createSealer({ limits: { [of]: most } });
          const written = encode(value);
          const reads = accepted(() => sealer.decode(written));
          expect([most, written, accepted(() => sealer.encode(value))]).toEqual([
            most,
            written,
            reads,
          ]);
        }
      }
    },
  );

  function accepted(run: () => unknown): boolean {
    try {
      run();
      return true;
    } catch (error) {
      if (isSealError(error)) return false;
      throw error;
    }
  }

  it("SEAL-21 refuses past the bytes of the text, exactly", () => {
    const sealer = createSealer({ limits: { bytes: 20 } });
    expect(sealer.encode("x".repeat(18))).toHaveLength(20);
    expect(refusal(() => sealer.encode("x".repeat(19))).found).toBe("its text passes 20 bytes");
    expect(sealer.encode("é".repeat(9))).toHaveLength(11);
    expect(refusal(() => sealer.encode("é".repeat(10))).figure).toBe(22);
    expect(sealer.decode(`"${"é".repeat(9)}"`)).toHaveLength(9);
    expect(refusal(() => sealer.decode(`"${"é".repeat(10)}"`)).found).toBe("more than 20 bytes");
    expect(refusal(() => sealer.decode(`"${"x".repeat(19)}"`)).limit).toBe(20);
    expect(refusal(() => encode("x".repeat(17 * 1024 * 1024))).limit).toBe(16 * 1024 * 1024);
    expect(refusal(() => encode(["x".repeat(9e6), "x".repeat(9e6)])).found).toMatch(
      /16777216 bytes/,
    );
    expect(refusal(() => sealer.encode(new Uint8Array(21))).found).toMatch(/20 bytes/);
    expect(refusal(() => sealer.encode(10n ** 700n)).found).toMatch(/20 bytes/);
  });

  it("SEAL-21 refuses an array longer than the budget by its length", () => {
    const sparse: unknown[] = [];
    sparse[4_294_967_294] = 1;
    expect(refusal(() => encode(sparse)).found).toMatch(/more than 1000000 values/);
    expect(quickest(() => encode(sparse), 50)).toBeLessThan(50);
  });

  it("SEAL-06 refuses a long sparse array in time bounded by its keys", () => {
    const sparse: unknown[] = [];
    sparse[999_999] = 1;
    expect(refusal(() => encode(sparse)).found).toMatch(/sparse/);
    expect(quickest(() => encode(sparse), 50)).toBeLessThan(50);
  });

  it("SEAL-21 tells of a large text before it is returned", () => {
    const told: unknown[] = [];
    const sealer = createSealer({
      limits: { warnBytes: 100 },
      onLarge: (figure) => told.push(figure),
    });
    sealer.encode("x".repeat(97));
    expect(told).toEqual([]);
    sealer.encode("x".repeat(98));
    expect(told).toEqual([{ bytes: 100, warnBytes: 100 }]);
    sealer.encode("é".repeat(49));
    expect(told).toHaveLength(2);
    createSealer({ limits: { warnBytes: 1 } }).encode("quiet without a listener");
  });

  it("SEAL-04 refuses a bigint past 1 MiB of hex digits, and takes the last one within", () => {
    const largest = (1n << 4_194_304n) - 1n;
    expect(encode(largest)).toBe(`{"$bigint16":"${"f".repeat(1024 * 1024)}"}`);
    expect(refusal(() => encode({ a: largest + 1n })).path).toBe("a");
    expect(refusal(() => encode(-(largest + 1n))).found).toMatch(/1048576 hexadecimal/);
  });

  it("SEAL-20 SEAL-21 takes no limit out of range", () => {
    for (const limits of [
      { depth: 0 },
      { depth: 1001 },
      { nodes: 1.5 },
      { brackets: 0 },
      { bytes: -1 },
      { warnBytes: NaN },
    ]) {
      const error = refusal(() => createSealer({ limits }));
      expect(error.code).toBe("option-invalid");
      expect(error.message).toContain(`limits.${Object.keys(limits)[0]} is an integer from 1 to`);
    }
    const deep = createSealer({ limits: { depth: 1000 } });
    expect(deep.decode(deep.encode(nest(1000, (inner) => [inner])))).toHaveLength(1);
  });
});
