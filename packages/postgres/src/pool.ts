/** What a statement is given: texts, whole numbers, nothing, or a list of texts. */
export type PostgresValue = string | number | null | readonly string[];

/** A statement with its values, as `pg` takes one; a name has it prepared once a connection. */
export interface PostgresQuery {
  readonly name?: string;
  readonly text: string;
  readonly values: PostgresValue[];
}

/** What a statement answers. Large integers may come as texts, numbers or bigints. */
export interface PostgresResult {
  readonly rows: readonly unknown[];
  /** The word of the last command: after a COMMIT that was none, `ROLLBACK`. */
  readonly command: string;
}

/** A connection on loan, as `PoolClient` of `pg` is one. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<PostgresResult>;
  /** Gives it back; with an error it is closed. */
  release(broken?: Error): void;
  on(event: "error" | "end", listener: () => void): unknown;
  on(
    event: "notification",
    listener: (message: {
      readonly channel: string;
      readonly payload?: string | undefined;
    }) => void,
  ): unknown;
  removeListener(event: "error", listener: () => void): unknown;
}

/**
 * A pool of connections, as `Pool` of `pg` is one: the caller's own, who also listens for its `error` event. It may be used
 * for anything beside; this package keeps no state in its connections but prepared statements and one `LISTEN`.
 */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  readonly options?: { readonly max?: number | undefined };
}
