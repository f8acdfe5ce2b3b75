/** What the server tells the program to do: the first message on its channel. */
export interface LlamaOrder {
  /** Address of `node-llama-cpp`'s main file. */
  readonly library: string;
  readonly path: string;
  readonly id: string;
  /** Every request has to bring it: other users of this machine may reach the port. */
  readonly key: string;
  readonly context: number;
  readonly parallel: number;
  readonly threads: number;
}

/** What the program says when it serves, or cannot. */
export type LlamaAnswer = { readonly port: number } | { readonly problem: string };
