/** A Postgres server of a proof's own; whoever runs the proof brings what starts one. */
export interface Server {
  readonly url: string;
  /** Ends it as a power cut would, but for what the system still writes; `start` recovers. */
  crash(): Promise<void>;
  /** Starts it again, on the same files and port. */
  start(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** Whether its commits wait for the disk. */
  readonly sync?: boolean;
}

export type StartServer = (options?: ServerOptions) => Promise<Server>;
