/** What a client sees of an answer. */
export interface Told {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly readAfter: string | null;
  readonly body: any;
}

/** Asks a path: with a body by POST. */
export async function tell(
  url: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Told> {
  const response = await fetch(url + path, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    readAfter: response.headers.get('read-after'),
    body: await response.json(),
  };
}

export const post = async (url: string, query: string) =>
  (await tell(url, '/graphql', { query })).body;

/** What came of a load. */
export interface Loaded {
  readonly done: readonly string[];
  readonly unknown: readonly string[];
  readonly none: readonly string[];
  readonly reads: { readonly done: number; readonly failed: readonly string[] };
  readonly slowest: number;
  /** Answers of no allowed form. */
  readonly wrong: readonly string[];
}

/** Writes and reads without a pause until it is ended: each write has a text of its own. */
export function load(url: string, tag: string, callers = 8) {
  const [done, unknown, none, wrong, failed]: string[][] = [[], [], [], [], []];
  let [reads, slowest, next] = [0, 0, 0];
  let success = Promise.withResolvers<void>();
  const ending = new AbortController();
  const ask = async (query: string) => {
    const began = performance.now();
    const told = await tell(url, '/graphql', { query });
    slowest = Math.max(slowest, performance.now() - began);
    return told;
  };
  const write = async () => {
    const text = `w${(next += 1)}`;
    const { status, body } = await ask(
      `mutation { createNote(text: "${text}", tagId: ${tag}) { id } }`,
    );
    if (!body.errors) return (done!.push(text), success.resolve());
    const { code, outcome } = body.errors[0].extensions;
    if (status !== 503 || code !== 'DATABASE_UNAVAILABLE') wrong!.push(JSON.stringify(body));
    else if (outcome === 'none') none!.push(text);
    else if (outcome === 'unknown') unknown!.push(text);
    else wrong!.push(JSON.stringify(body));
  };
  const read = async () => {
    const { body } = await ask('{ notes(limit: 3) { text tag { name } } }');
    if (body.errors) failed!.push(JSON.stringify(body.errors));
    reads += 1;
  };
  const caller = async () => {
    while (!ending.signal.aborted) {
      await write();
      await read();
    }
  };
  const all = Promise.all(Array.from({ length: callers }, caller));
  return {
    /** Resolves with the next write that succeeds. */
    success: () => (success = Promise.withResolvers<void>()).promise,
    end: async (): Promise<Loaded> => {
      ending.abort();
      await all;
      return {
        done: done!,
        unknown: unknown!,
        none: none!,
        reads: { done: reads, failed: failed! },
        slowest,
        wrong: wrong!,
      };
    },
  };
}
