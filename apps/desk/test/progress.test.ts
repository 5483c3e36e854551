import { describe, expect, it } from "vitest";

import { Progress } from "../src/progress.ts";
import { Screen } from "../src/screen.ts";

function printed(live: boolean, use: (screen: Screen) => void): string {
  let text = "";
  use(new Screen({ write: (more) => void (text += more), live, coloured: false }));
  return text;
}

const all = 200;
const count = (screen: Screen): void => {
  const progress = new Progress(screen, "requests");
  for (let done = 1; done <= all; done += 1) progress.show(done, all);
};

describe("progress", () => {
  it("is a line at each quarter in a pipe, and nothing that draws over another", () => {
    expect(printed(false, count)).toBe(
      [50, 100, 150, 200].map((done) => `  ${String(done).padStart(3)} of 200 requests\n`).join(""),
    );
  });

  it("is one bar on a terminal that grows in its place and is kept at the end", () => {
    const frames = printed(true, count).split("\r\u001B[K");
    expect(frames).toHaveLength(all + 1);
    expect(frames[100]).toBe(`  ${"█".repeat(15)}${"░".repeat(15)}  100 of 200 requests`);
    expect(frames[200]).toBe(`  ${"█".repeat(30)}  200 of 200 requests\n`);
  });

  it("leaves a bar that was cut off on a line of its own", () => {
    const text = printed(true, (screen) => {
      new Progress(screen, "requests").show(117, all);
      screen.line("killed");
    });
    expect(text).toMatch(/ {2}117 of 200 requests\nkilled\n$/);
  });
});

describe("a quotation", () => {
  it("keeps every word and fits 80 columns", () => {
    const words = Array.from({ length: 60 }, (_, at) => `word${at}`).join(" ");
    const lines = printed(false, (screen) => screen.quote(words))
      .trimEnd()
      .split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.map((line) => line.trim()).join(" ")).toBe(`"${words}"`);
  });
});
