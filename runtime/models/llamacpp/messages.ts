/** What the server tells the program to do: the first message on its channel. */
export interface LlamaOrder {
  /** Address of `node-llama-cpp`'s main file. */
  readonly library: string;
  readonly path: string;
  readonly id: string;
  readonly context: number;
  readonly parallel: number;
  readonly threads: number;
}

/** What the program says when it serves, or cannot. */
export type LlamaStarted = { readonly ready: true } | { readonly problem: string };

/** Every later message: a call of the OpenAI API, or the end of a call whose caller is gone. */
export type LlamaRequest = LlamaCall | { readonly id: number; readonly cancel: true };

export interface LlamaCall {
  readonly id: number;
  /** Below `/v1`. */
  readonly path: string;
  /** JSON. */
  readonly body: string | null;
}

/** A piece of an answer: the first has a head, the last an end. */
export interface LlamaReply {
  readonly id: number;
  readonly head?: { readonly status: number; readonly headers: Readonly<Record<string, string>> };
  readonly text: string;
  readonly end: boolean;
}
