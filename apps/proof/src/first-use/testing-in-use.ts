// A test moves time by hand, draws the same ids each time, and makes a store fail at a write.
import { memoryHome } from "@holdpoint/approvals";
import { faultyStore, testClock, testIds } from "@holdpoint/testing";

const clock = testClock();
const fired: number[] = [];
clock.timer(1_000, () => fired.push(clock.now()));
clock.move(999);
if (fired.length > 0) throw new Error("a timer fired early");
clock.move(1);
if (fired.length !== 1) throw new Error("a timer did not fire");

if (testIds(7).id() !== testIds(7).id()) throw new Error("the same seed draws other ids");

const home = memoryHome({ clock });
const { store } = faultyStore(home, [{ at: 1, kind: "fail" }]);
const failed = await store.commit("attempt-1", []).then(
  () => undefined,
  (error: unknown) => error,
);
if (failed === undefined) throw new Error("a store that had to fail did not");
