import * as z from "zod";

import { createSealer } from "../src/index.ts";
import { model } from "../src/zod.ts";

/** Classes as programs have them: a getter, a subclass, a private field, a member of its own kind. */
export class Money {
  cents: number;
  currency: string;
  _cache = "not kept";
  constructor(cents: number, currency: string) {
    this.cents = cents;
    this.currency = currency;
  }
  get text(): string {
    return `${this.cents} ${this.currency}`;
  }
}
export class Refund extends Money {
  reason = "";
}
export class Secret {
  readonly #code: string;
  name: string;
  constructor(name: string, code: string) {
    this.name = name;
    this.#code = code;
  }
  reveal(): string {
    return this.#code;
  }
}
export class Basket {
  items: Money[] = [];
  parent: Basket | undefined = undefined;
}

export const moneyFields = z.object({ cents: z.int(), currency: z.string().length(3) });
export const money = model(Money, { name: "money", fields: moneyFields });
export const refund = model(Refund, {
  name: "refund",
  fields: moneyFields.extend({ reason: z.string() }),
});
export const secret = model(Secret, {
  name: "secret",
  fields: z.object({ name: z.string() }),
  build: ({ name }) => new Secret(name, "rebuilt"),
});
export const basket = model(Basket, {
  name: "basket",
  fields: z.object({
    items: z.array(money.schema),
    get parent() {
      return z.union([basket.schema, z.undefined()]);
    },
  }),
});
export const sealer = createSealer({ models: [money, refund, secret, basket] });
