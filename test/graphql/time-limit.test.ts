import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RequestContext } from '../../runtime/core/context/request-context.ts';
import { noteCommit } from '../../runtime/core/data/write/own-commit.ts';
import type { Engine } from '../../runtime/core/graphql/engine.ts';
import { withTimeLimit } from '../../runtime/core/graphql/time-limit.ts';

const TIME = 50;

describe('a write that commits by itself while the time limit is reached', () => {
  const engine = {
    model: { project: { api: { limits: { time: TIME } } } },
    store: { memory: { isWaiting: () => false } },
  } as unknown as Engine;
  let context: RequestContext;
  let written: PromiseWithResolvers<string>;
  let answer: unknown;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const cancel = vi.fn();
    context = { cancel } as unknown as RequestContext;
    written = Promise.withResolvers();
    noteCommit(context, written.promise);
    answer = undefined;
  });

  afterEach(() => void vi.useRealTimers());

  /** The limit is reached while the write runs, which is told to end. */
  function reach(work: Promise<unknown>): void {
    void withTimeLimit(engine, work, context).then((given) => (answer = given));
    vi.advanceTimersByTime(TIME);
    expect(context.cancel).toHaveBeenCalledOnce();
  }

  const turn = () => new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));

  it('is answered when it was done', async () => {
    reach(written.promise.then((row) => row.toUpperCase()).then((text) => `${text}!`));
    await turn();
    expect(answer).toBeUndefined();
    written.resolve('row');
    await turn();
    expect(answer).toBe('ROW!');
  });

  it('is a timeout when it was undone', async () => {
    reach(written.promise.catch(() => 'failed').then((text) => `${text}!`));
    written.reject(new Error('canceling statement'));
    await turn();
    expect(answer).toMatchObject({ over: { extensions: { code: 'TIMEOUT' } } });
  });

  it('holds up nothing that follows it', async () => {
    reach(written.promise.then(() => new Promise(() => {})));
    written.resolve('row');
    await turn();
    expect(answer).toMatchObject({ over: { extensions: { code: 'TIMEOUT' } } });
  });

  it('no longer counts once it is done', async () => {
    written.resolve('row');
    await turn();
    reach(new Promise(() => {}));
    await turn();
    expect(answer).toMatchObject({ over: { extensions: { code: 'TIMEOUT' } } });
  });
});
