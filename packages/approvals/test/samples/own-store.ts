import { memoryApprovalStore, memoryHome, type Clock } from "@holdpoint/approvals";
import { approvalStoreCases, type StoreUnderTest } from "@holdpoint/approvals/contract";

// What every store has to hold, as cases for any test runner; here for the store in memory.
function make(): StoreUnderTest {
  let now = 0;
  const clock: Clock = { now: () => now, monotonic: () => now, timer: () => () => undefined };
  const home = memoryHome({ clock });
  return {
    store: memoryApprovalStore(home),
    another: () => memoryApprovalStore(home), // a second connection to the same rows
    advance: (ms) => void (now += ms),
    close: () => undefined,
  };
}

for (const { run } of approvalStoreCases) await run(make);
