import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Row } from "../src/commit.ts";
import { RowTable } from "../src/row-table.ts";

const keys = fc.string({ unit: fc.constantFrom("a", "b", "/", "é"), minLength: 1, maxLength: 4 });
const rows = fc.record({
  key: keys,
  version: fc.nat(),
  attempt: fc.constant("a"),
  values: fc.constant({}),
});

type Step =
  | { readonly do: "set"; readonly row: Row }
  | { readonly do: "drop"; readonly key: string }
  | {
      readonly do: "range";
      readonly prefix: string;
      readonly after: string | undefined;
      readonly limit: number;
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 40, arbitrary: fc.record({ do: fc.constant("set" as const), row: rows }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("drop" as const), key: keys }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("range" as const),
      prefix: fc.constantFrom("", "a", "b/"),
      after: fc.option(keys, { nil: undefined }),
      limit: fc.constantFrom(1, 3, Infinity),
    }),
  },
);
const steps = fc.array(step, { maxLength: 150, size: "max" });

describe("rows in order", () => {
  it("APR-23 APR-24 reads them in the order of their keys, however many came since the last read", () => {
    const inOrder = (list: string[]): string[] => list.toSorted((a, b) => (a < b ? -1 : 1));
    const read = (table: RowTable, model: Map<string, Row>, step: Step): unknown[] => {
      switch (step.do) {
        case "set":
          table.set(step.row);
          model.set(step.row.key, step.row);
          return [];
        case "drop": {
          const stood = model.get(step.key);
          model.delete(step.key);
          return [table.drop(step.key), stood];
        }
        case "range": {
          const { prefix, after, limit } = step;
          const found = [...model.keys()].filter(
            (key) => key.startsWith(prefix) && (after === undefined || key > after),
          );
          const range = { prefix, limit, ...(after !== undefined && { after }) };
          return [table.range(range).map(({ key }) => key), inOrder(found).slice(0, limit)];
        }
      }
    };
    fc.assert(
      fc.property(steps, (list) => {
        const table = new RowTable();
        const model = new Map<string, Row>();
        for (const step of list) {
          const [is, was] = read(table, model, step);
          expect(is).toEqual(was);
        }
        const whole = table.range({});
        expect(whole.map(({ key }) => key)).toEqual(inOrder([...model.keys()]));
        expect(new Map(whole.map((row) => [row.key, row]))).toEqual(model);
      }),
    );
  });
});
