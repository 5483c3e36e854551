/** Stands in for a payment provider: remembers what was paid, and pays nothing twice under one key. */
export const orders = new Map([["A-17", { id: "A-17", totalCents: 129_900 }]]);

const paid = new Map<string, { refundId: string; orderId: string; cents: number }>();

export const payments = {
  async refund(orderId: string, cents: number, { idempotencyKey }: { idempotencyKey: string }) {
    const known = paid.get(idempotencyKey);
    if (known !== undefined) return { refundId: known.refundId };
    const refundId = `refund-${paid.size + 1}`;
    paid.set(idempotencyKey, { refundId, orderId, cents });
    return { refundId };
  },
  all: () => [...paid.values()],
};
