import { fileURLToPath } from "node:url";

/** The files that come with the desk. */
export const sample = {
  orders: fileURLToPath(new URL("../data/orders.jsonl", import.meta.url)),
  requests: fileURLToPath(new URL("../data/requests.jsonl", import.meta.url)),
};
