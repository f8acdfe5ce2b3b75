/** The first message from the server to the program: the model to load, and how. */
export interface LlamaOrder {
  /** URL of the main file of `node-llama-cpp`. */
  readonly library: string;
  readonly path: string;
  readonly id: string;
  readonly context: number;
  readonly parallel: number;
  readonly threads: number;
}

/** The first message from the program: it is ready, or the reason why it is not. */
export type LlamaStarted =
  | { readonly ready: true; readonly layers: number }
  | { readonly problem: string };

/** Every later message from the server: a call of the OpenAI API, or the cancellation of one. */
export type LlamaRequest = LlamaCall | { readonly id: number; readonly cancel: true };

export interface LlamaCall {
  readonly id: number;
  /** Path below `/v1`. */
  readonly path: string;
  /** JSON text; null for a GET. */
  readonly body: string | null;
}

/** A piece of an answer. The first piece has `head`, the last one has `end`. */
export interface LlamaReply {
  readonly id: number;
  readonly head?: { readonly status: number; readonly headers: Readonly<Record<string, string>> };
  readonly text: string;
  readonly end: boolean;
}
