/**
 * What each look at nested state costs at the least: `node apps/bench/src/seal/primitives.ts`, after a build. Each line is one kind of look over all of
 * 700 KB, in a loop of its own; the sum of those that a seal can't do without is what stands between it and its yardstick.
 */
import { createHmac, createSecretKey } from "node:crypto";
import { types } from "node:util";

import { createKeyring, encode, seal } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";

import { medians, type Task } from "./measure.ts";
import { nested } from "./workloads.ts";

const ROUNDS = 31;
const value = nested(700_000);
const key = new Uint8Array(32).fill(1);
const held = createSecretKey(key);
const options = {
  keyring: createKeyring({ current: { id: "k", key }, mac: nodeMac }),
  purpose: "checkpoint",
};

const objects: Record<string, unknown>[] = [];
const lists: unknown[][] = [];
const names: string[][] = [];
collect(value);

function collect(at: unknown): void {
  if (typeof at !== "object" || at === null) return;
  if (Array.isArray(at)) lists.push(at);
  else {
    objects.push(at as Record<string, unknown>);
    names.push(Object.keys(at));
  }
  for (const part of Object.values(at)) collect(part);
}

const { getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, keys } = Object;
const { ownKeys, getPrototypeOf } = Reflect;
const getterOf = Function.prototype.call.bind(
  Reflect.get(Object.prototype, "__lookupGetter__") as () => unknown,
) as (self: object, name: PropertyKey) => unknown;

/** Reads what it finds, so that no engine drops the look. */
function count<Item>(items: readonly Item[], look: (item: Item, index: number) => number): number {
  let sum = 0;
  for (let i = 0; i < items.length; i++) sum += look(items[i]!, i);
  return sum;
}

function plainProperties(object: object, index: number): number {
  let plain = 0;
  for (const name of names[index]!) {
    const property = getOwnPropertyDescriptor(object, name);
    if (property?.get === undefined && property?.set === undefined && property?.enumerable === true)
      plain++;
  }
  return plain;
}

function plainElements(list: readonly unknown[]): number {
  let plain = 0;
  for (let i = 0; i < list.length; i++) if (getterOf(list, i) === undefined) plain++;
  return plain;
}

/** The walk by itself, which looks at nothing but what it goes through. */
function goThrough(at: unknown): number {
  if (typeof at === "string") return at.length;
  if (typeof at !== "object" || at === null) return 1;
  let sum = 0;
  if (Array.isArray(at)) for (let i = 0; i < at.length; i++) sum += goThrough(at[i]);
  else for (const name in at) sum += goThrough((at as Record<string, unknown>)[name]);
  return sum;
}

const text = JSON.stringify(value);
const tasks: Task[] = [
  { name: "JSON.stringify", run: () => JSON.stringify(value) },
  { name: "HMAC", run: () => createHmac("sha256", held).update(text).digest() },
  { name: "the text as a string", run: () => JSON.stringify(text) },
  { name: "going through", run: () => goThrough(value) },
  {
    name: "proxies",
    run: () => count([...objects, ...lists], (at) => (types.isProxy(at) ? 0 : 1)),
  },
  { name: "prototypes", run: () => count(objects, (at) => (getPrototypeOf(at) === null ? 0 : 1)) },
  { name: "names of objects", run: () => count(objects, (at) => getOwnPropertyNames(at).length) },
  {
    name: "symbols of objects",
    run: () => count(objects, (at) => getOwnPropertySymbols(at).length),
  },
  { name: "descriptors of properties", run: () => count(objects, plainProperties) },
  { name: "own keys of lists", run: () => count(lists, (at) => ownKeys(at).length) },
  { name: "enumerable keys of lists", run: () => count(lists, (at) => keys(at).length) },
  { name: "getters of elements", run: () => count(lists, plainElements) },
  { name: "encode", run: () => encode(value) },
  { name: "seal", run: () => seal(value, options) },
];
const took = medians(tasks, ROUNDS);
const yardstick = took.get("JSON.stringify")! + took.get("HMAC")!;
process.stdout.write(
  `${objects.length} objects, ${count(names, (list) => list.length)} properties, ${lists.length} lists, ` +
    `${count(lists, (list) => list.length)} elements; yardstick ${yardstick.toFixed(2)} ms\n`,
);
for (const [name, ms] of took) {
  process.stdout.write(`${name.padEnd(26)} ${ms.toFixed(3)} ms  ${(ms / yardstick).toFixed(2)}x\n`);
}
