import { afterEach, beforeEach } from "vitest";

// A library prints nothing: a stray log in source or test is a failed test.
const methods = ["log", "info", "warn", "error", "debug", "trace"] as const;
let printed: string[] = [];

beforeEach(() => {
  printed = [];
  for (const method of methods) {
    console[method] = (...values: unknown[]) => {
      printed.push(`console.${method}: ${values.map(String).join(" ").slice(0, 200)}`);
    };
  }
});

afterEach(() => {
  if (printed.length > 0) throw new Error(`a test printed to the console:\n${printed.join("\n")}`);
});
