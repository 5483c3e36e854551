/** A line that the reader has to refuse, and the place it stands at: after so many lines. */
export interface BadLine {
  readonly after: number;
  readonly text: string;
}

const items = [{ sku: "LAMP-01", quantity: 1 }];
const good = {
  id: "R-9001",
  order: "A-1001",
  customer: "Bad Line",
  received: "2026-02-01",
  items,
  reason: "broken",
};

const line = (changes: object): string => JSON.stringify({ ...good, ...changes });

/** One of each kind; in rising places, each counted with the ones before it. */
export const badLines: readonly BadLine[] = [
  { after: 12, text: line({}).slice(0, 61) }, // cut off
  { after: 40, text: line({ id: "R-9002", order: undefined }) }, // a member is missing
  { after: 66, text: line({ id: "R-9003", items: [{ sku: "LAMP-01", quantity: "two" }] }) },
  { after: 90, text: line({ id: "R-9004", order: "A-9999" }) }, // nobody ordered that
  { after: 111, text: line({ id: "R-9005", atMostMinor: -1299 }) },
  { after: 135, text: line({ id: "R-0007" }) }, // an id that was there before
  { after: 150, text: line({ id: "R-9006", atMostMinor: 12.99 }) }, // major units
  { after: 171, text: line({ id: "R-9007", items: [] }) },
  { after: 190, text: line({ id: "R-9008", received: "yesterday" }) },
];
