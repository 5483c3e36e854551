/** A class that may stand in texts (SEAL-40). Made by `model()` of `@holdpoint/seal/zod`. */
export interface Model<T extends object = object> {
  /** Name in the text; given by hand, since bundlers rename classes. */
  readonly name: string;
  readonly prototype: object;
  /** Says what is wrong with decoded fields, or undefined when they are the class's (SEAL-43). */
  readonly problem: (fields: Readonly<Record<string, unknown>>) => string | undefined;
  /** Makes the instance of validated fields. */
  readonly build: (fields: Record<string, unknown>) => T;
  /** The schema of the fields, for finding the classes that they reach. */
  readonly fields: unknown;
  /** The check function that marks the model's own schema, in every copy of it (SEAL-41). */
  readonly check: (value: unknown) => boolean;
  /**
   * Names of the given models that the schemas reach. It comes with the models, so that a program
   * without any doesn't carry the walk through schemas.
   */
  readonly reachable: (
    schemas: readonly unknown[],
    models: readonly Model[],
  ) => ReadonlySet<string>;
}
