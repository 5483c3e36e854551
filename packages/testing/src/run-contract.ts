/** A case of a contract: a claim, and what shows it over whatever `make` makes. */
export interface ContractCase<Make> {
  readonly name: string;
  readonly run: (make: Make) => Promise<void>;
}

/** What is needed of a test runner: vitest, jest, mocha, node:test and others have it. */
export interface Runner {
  readonly it: (name: string, run: () => Promise<void>) => unknown;
}

/**
 * Binds a contract to a test runner (TEST-05).
 *
 * @example
 * runContract(approvalStoreCases, makeMyStore, { it });
 */
export function runContract<Make>(
  cases: readonly ContractCase<Make>[],
  make: Make,
  { it }: Runner,
): void {
  for (const { name, run } of cases) it(name, () => run(make));
}
