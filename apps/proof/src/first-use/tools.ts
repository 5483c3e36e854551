// A tool runs through its executor alone: validated, and held where its rule says so.
import { defineTool, Executor, isToolError } from "@holdpoint/tools";
import * as z from "zod";

const paid: number[] = [];
const issueRefund = defineTool({
  name: "issue_refund",
  description: "Pay money back.",
  input: z.object({ orderId: z.string(), cents: z.int().positive() }),
  output: z.object({ refundId: z.string() }),
  confirm: ({ cents }) => cents > 10_000,
  execute: ({ orderId, cents }) => {
    paid.push(cents);
    return { refundId: `refund of ${orderId}` };
  },
});

const executor = new Executor();
const { refundId } = await executor.call(issueRefund, { orderId: "A-17", cents: 1234 });
if (refundId !== "refund of A-17") throw new Error("the refund differs");

for (const cents of [-1, 20_000]) {
  const refused = await executor.call(issueRefund, { orderId: "A-17", cents }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!isToolError(refused)) throw new Error(`${cents} was not refused`);
}
if (paid.join() !== "1234") throw new Error(`paid ${paid.join()}`);
