import { describe, expect, it } from "vitest";

import { createSealer, defineCodec } from "../src/index.ts";
import { refusal } from "./refusal.ts";

describe("checked before it is built", () => {
  it("SEAL-25 runs no codec for a text that is refused later on", () => {
    let decoded = 0;
    const sealer = createSealer({
      codecs: [
        defineCodec({
          type: "point",
          is: (value): value is Point => value instanceof Point,
          encode: (point) => [point.x, point.y],
          decode([x, y]: number[]) {
            decoded++;
            return new Point(x!, y!);
          },
        }),
      ],
    });
    const text = sealer.encode([new Point(1, 2)]);
    expect(sealer.decode(text)).toEqual([new Point(1, 2)]);
    expect(decoded).toBe(1);
    const bad = [
      `${text.slice(0, -1)},{"$x":1}]`,
      `${text.slice(0, -1)},1.0]`,
      `${text.slice(0, -1)},{"a":1,"a":1}]`,
      `${text.slice(0, -1)},{"$set":[1,1]}]`,
    ];
    for (const other of bad)
      expect(refusal(() => sealer.decode(other)).code).toBe("seal-malformed");
    expect(decoded).toBe(1);
  });
});

class Point {
  readonly x: number;
  readonly y: number;
  constructor(x: number, y: number) {
    this.x = x;
    this.y = y;
  }
}
